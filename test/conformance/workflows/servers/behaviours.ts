import type { Fields } from '../case-file.ts'
import type { ReceivedRequest } from './http-server.ts'
import { CaseFault } from '../case-fault.ts'

/** An answer of a stub server. */
export interface StubResponse {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

type Behave = (request: ReceivedRequest) => StubResponse

/** Makes the behaviour that a stub describes in words; throws when no known form fits, so that nothing is guessed. */
export function compileBehaviour(words: string, mock: Fields): Behave {
  const rates = mock['rates'] as Readonly<Record<string, number>> | undefined
  if (rates !== undefined) return exchangeRates(words, rates)
  const event = /answers the CloudEvent (\{.*\})/s.exec(words)?.[1]
  if (event !== undefined) return answerEvent(event)
  const json = /^answers (\{.*\}|\[.*\])$/s.exec(words)?.[1]
  if (json !== undefined) return () => ({ body: JSON.parse(json) as unknown })
  throw new CaseFault(`this runner does not know how to behave as follows: ${words}`)
}

/** `query <from>, <to>, …; answers {"rate": r} with r = (1 / rates[<from>]) * rates[<to>]; … not in the table … gives <n>`. */
function exchangeRates(words: string, rates: Readonly<Record<string, number>>): Behave {
  const [, from, to] = /\(1 \/ rates\[(\w+)\]\) \* rates\[(\w+)\]/.exec(words) ?? []
  const [, property] = /answers \{"(\w+)": r\}/.exec(words) ?? []
  const fallback = Number(/not in the table[^;]*gives ([\d.]+)/.exec(words)?.[1])
  if (from === undefined || to === undefined || property === undefined || Number.isNaN(fallback)) {
    throw new CaseFault(`this runner does not know how to use rates as follows: ${words}`)
  }
  return ({ query }) => {
    const sold = rates[query[from]?.[0] ?? '']
    const bought = rates[query[to]?.[0] ?? '']
    return { body: { [property]: sold === undefined || bought === undefined ? fallback : (1 / sold) * bought } }
  }
}

/** The JSON text of an event in which `<id of the request>` stands for the id of the event that came in. */
function answerEvent(template: string): Behave {
  return ({ headers, body }) => {
    const id = headers['ce-id'] ?? String((body as Fields | undefined)?.['id'] ?? '')
    return {
      headers: { 'content-type': 'application/cloudevents+json' },
      body: JSON.parse(template.replaceAll('<id of the request>', id)) as unknown,
    }
  }
}
