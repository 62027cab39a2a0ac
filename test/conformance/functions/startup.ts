import { silentLogger } from '../../../lib/common/index.ts'
import { Funq, bytes, cloudEvent, defineFunction, json, serve, type FunctionRuntimeOptions, type FunctionSources } from '../../../lib/function-runtime/index.ts'
import type { CaseResult } from '../suite-result.ts'
import type { StartupRule } from './types.ts'
import { exchange } from './vectors.ts'

/** A kind of start-up rule: recognised by its words, checked by an application of ours that is in the given situation. */
interface RuleKind {
  readonly given: RegExp
  /** Row of the deviations table when the outcome differs on purpose. */
  readonly deviation?: string
  /** Says what went wrong; `undefined` when the rule holds. */
  readonly check: () => string | undefined | Promise<string | undefined>
}

const Text = { type: 'string' } as const
const Integer = { type: 'integer' } as const
const lower = defineFunction({ name: 'toLowerCase', input: json(Text), output: json(Text) }, (given) => given.toLowerCase())

const KINDS: readonly RuleKind[] = [
  {
    given: /filter set.*(empty|subset)/i,
    check: () => first([{}, { source: 'a' }, { source: 'a', custom: 'b' }].map((attributes) =>
      refused([triggered('one', { source: 'a', custom: 'b' }), triggered('other', attributes)], {}, /one.*other.*same events/))),
  },
  {
    given: /Byte\[\]/,
    check: () => first([
      refused([defineFunction({ name: 'f', input: json({ type: 'array', items: bytes }), output: bytes }, (given) => given as never)], {}, /input.*bytes/),
      refused([defineFunction({ name: 'f', input: bytes, output: json({ properties: { payload: bytes } }) }, () => ({}))], {}, /output.*bytes/),
      refused([defineFunction({ name: 'f', input: cloudEvent(cloudEvent(bytes) as never), output: bytes }, () => new Uint8Array())], {}, /cloudEvent holds/),
    ]),
  },
  {
    given: /two .*(one|same) name/i,
    deviation: 'duplicate names',
    check: () => refused([lower, lower], {}, /toLowerCase.*used twice/),
  },
  {
    given: /overloaded/i,
    check: async () => {
      class Overloaded {
        @Funq({ name: 'strfun', input: json(Text), output: json(Text) })
        ofText(given: string): string { return given.toUpperCase() }

        @Funq({ name: 'intfun', input: json(Integer), output: json(Integer) })
        ofInteger(given: number): number { return given * 2 }
      }
      return await answers([new Overloaded()], {}, '/strfun', '"a"', '"A"') ?? answers([new Overloaded()], {}, '/intfun', '2', '4')
    },
  },
  {
    given: /non-public|private/i,
    check: () => {
      class Hidden {
        @Funq({ input: json(Integer), output: json(Integer) })
        #double(given: number): number { return given * 2 }

        use(): number { return this.#double(1) }
      }
      return refused([new Hidden()], {}, /public instance method/)
    },
  },
  {
    given: /names no function/i,
    check: () => first([
      refused([lower], { export: 'absent' }, /export names absent/),
      refused([lower], { mapping: { absent: { trigger: 't' } } }, /mapping names absent/),
      refused([defineFunction({ name: 'f', input: cloudEvent(undefined as never), output: bytes }, () => new Uint8Array())], {}, /cloudEvent holds/),
    ]),
  },
  {
    given: /root-path/i,
    check: async () => {
      const options = { rootPath: '/api', export: 'toLowerCase' }
      return await answers([lower], options, '/api/', '"A"', '"a"') ?? answers([lower], options, '/api/toLowerCase', '"A"', '"a"')
    },
  },
  {
    given: /exactly one function/i,
    check: async () => await answers([lower], {}, '/', '"A"', '"a"') ?? answers([lower], {}, '/toLowerCase', '"A"', '"a"'),
  },
]

/** Puts an application into the situation that a rule describes and checks that it starts or is refused as stated. */
export async function runStartupRule(id: string, rule: StartupRule): Promise<CaseResult> {
  const kind = KINDS.find(({ given }) => given.test(rule.given))
  if (kind === undefined) {
    return { id, feature: 'startup', outcome: 'skipped', reason: `no application for "${rule.given}"`, missing: ['start-up rule of this kind'] }
  }
  const fault = await kind.check()
  const reason = fault ?? (kind.deviation === undefined ? undefined : `deviation "${kind.deviation}"`)
  return { id, feature: 'startup', outcome: fault === undefined ? 'passed' : 'failed', ...(reason === undefined ? {} : { reason }) }
}

function triggered(name: string, attributes: Record<string, string>): object {
  return defineFunction({ name, input: json(Text), output: json(Text), trigger: 'shared', attributes }, (given) => given)
}

function first(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined)
}

function refused(functions: FunctionSources, options: FunctionRuntimeOptions, message: RegExp): string | undefined {
  try {
    serve(functions, { log: silentLogger, ...options })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    return message.test(text) ? undefined : `refused with another message: ${text}`
  }
  return `started, should be refused (${message.source})`
}

async function answers(functions: FunctionSources, options: FunctionRuntimeOptions, path: string, body: string, expected: string): Promise<string | undefined> {
  const { status, body: got } = await exchange(functions, options, { POST: path, ct: 'application/json', body })
  return status === 200 && got.toString() === expected ? undefined : `POST ${path}: ${String(status)} ${got.toString()}, 200 ${expected} expected`
}
