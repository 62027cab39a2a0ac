import { jsonEquals, type Clock, type Json } from '../../../../lib/common/index.ts'
import type { FunctionCall, FunctionResult } from '../../../../lib/functions/index.ts'
import { assertKnown, type Fields } from '../case-file.ts'
import { parseDuration } from '../durations.ts'
import { shorten } from '../match.ts'
import type { Recorder } from './recorder.ts'

/** What stubs need of the case. */
export interface StubSurroundings {
  readonly clock: Clock
  readonly start: number
  readonly recorder: Recorder
  /** Answers come only when time moves, so that calls made at once can be told from calls made one after the other. */
  readonly hold: boolean
  /** Told the instant of an answer that time has to reach; gives what to call when it has come or is not wanted any more. */
  expectAt(instant: number): () => void
}

type Answered<T> = T | Promise<T>

const STUB_KEYS = ['result', 'error', 'takes', 'when']

/** Makes the stand-in of a function from its entries, consumed in order; the last one repeats. */
export function createFunctionStub(
  name: string, entries: readonly Fields[], surroundings: StubSurroundings,
): (call: FunctionCall) => Answered<FunctionResult> {
  for (const entry of entries) assertKnown(entry, STUB_KEYS, `the stub of ${name}`)
  const sequence = entries.filter((entry) => entry['when'] === undefined)
  let used = 0
  return ({ arguments: args, context }) => {
    const { recorder, clock, start } = surroundings
    recorder.begin({ function: name, ...(args === undefined ? {} : { args }), at: clock.now() - start })
    const entry = entries.find(({ when }) => when !== undefined && jsonEquals(when, args)) ?? sequence[Math.min(used++, sequence.length - 1)]
    if (entry === undefined) {
      recorder.end()
      throw new Error(`no stub of ${name} answers the arguments ${shorten(args)}`)
    }
    return answer(entry, surroundings, { signal: context.signal, result: (): FunctionResult => ({ output: (entry['result'] ?? null) as Json }) })
  }
}

/** Makes the stand-in of a sub-flow that gives a fixed output, its input, or an error. */
export function createSubflowStub(
  id: string, entry: Fields, surroundings: StubSurroundings,
): (input: Json, signal: AbortSignal, version?: string) => Answered<Json> {
  assertKnown(entry, ['output', 'error', 'takes'], `the sub-flow ${id}`)
  return (input, signal, version) => {
    const { recorder, clock, start } = surroundings
    recorder.begin({ subflow: id, input, ...(version === undefined ? {} : { version }), at: clock.now() - start })
    return answer(entry, surroundings, { signal, result: () => (entry['output'] === '$input' ? input : (entry['output'] ?? {}) as Json) })
  }
}

interface Awaiting<T> {
  readonly signal: AbortSignal
  readonly result: () => T
}

function answer<T>(entry: Fields, surroundings: StubSurroundings, { signal, result }: Awaiting<T>): Answered<T> {
  const { clock, recorder, hold } = surroundings
  const give = (): T => {
    recorder.end()
    if (entry['error'] !== undefined) throw toError(entry['error'] as Fields)
    return result()
  }
  const takes = entry['takes'] === undefined ? 0 : parseDuration(String(entry['takes']))
  if (takes === 0 && !hold) return give()
  return new Promise<T>((resolve, reject) => {
    const instant = clock.now() + takes
    const arrived = surroundings.expectAt(instant)
    const cancel = clock.at(instant, () => {
      arrived()
      try {
        resolve(give())
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    })
    signal.addEventListener('abort', () => {
      cancel()
      arrived()
      recorder.end()
      reject(signal.reason instanceof Error ? signal.reason : new Error('the call was given up'))
    }, { once: true })
  })
}

/** The error that a host throws: by name, by code, and by status when the code is one of HTTP. */
function toError({ name, code, ...rest }: Fields): Error {
  const status = Number(code)
  return Object.assign(new Error(typeof name === 'string' ? name : `failed with ${String(code)}`), rest, {
    ...typeof name === 'string' ? { name } : {},
    ...code === undefined ? {} : { code: String(code) },
    ...Number.isInteger(status) && status >= 100 && status < 600 ? { status } : {},
  })
}
