import { request } from 'undici'
import { silentLogger } from '../../../lib/common/index.ts'
import {
  defineFunction,
  event,
  listenFunctions,
  serve,
  type Descriptor,
  type FunctionRuntimeOptions,
  type HostedFunction,
} from '../../../lib/function-runtime/index.ts'
import { isSubset } from '../json-subset.ts'
import type { CaseResult } from '../suite-result.ts'
import { answerHere, deviationsOf } from './deviations.ts'
import { implementationOf, type HostFunctions } from './host-functions.ts'
import { parseSignature, type Beans, type Signature } from './signature.ts'
import { bodyOf, isEvent, targetOf, type App, type Vector, type VectorAnswer, type VectorFile, type VectorRequest } from './types.ts'

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Starts the app of a vector, sends the request and compares the answer, deviations applied. */
export async function runVector(id: string, vector: Vector, file: VectorFile, functions: HostFunctions): Promise<CaseResult> {
  const app = withBase(vector.app, file.apps)
  const result = (outcome: CaseResult['outcome'], reason?: string): CaseResult =>
    ({ id, feature: vector.app, outcome, ...(reason === undefined ? {} : { reason }) })
  if (app === undefined) return result('failed', `the app ${vector.app} is not described`)
  const signatures = readSignatures(app)
  const deviations = deviationsOf({ vector, app, target: targetSignature(vector.req, signatures) })
  const note = deviations.length === 0 ? undefined : `deviation ${deviations.map(({ row }) => row).join(', ')}`
  if (deviations.some(({ here }) => here === 'left out')) return result('contested', note)
  const [firstName = ''] = signatures.keys()
  const missing: string[] = []
  const hosted = [...signatures].flatMap(([name, signature]) => {
    const code = implementationOf(vector.app, signature.filtersOnly ? firstName : name, signature, functions)
    if (code === undefined) missing.push(name)
    return code === undefined ? [] : [hostedFunction(name, signature, code)]
  })
  if (missing.length > 0) {
    return { ...result('skipped', 'write it into host-functions.mjs of the corpus folder'), missing: missing.map((name) => `code of function ${name}`) }
  }
  const answer = await exchange(hosted, { ...settingsOf(app), lenientEvents: deviations.some(({ here }) => here === 'lenient') }, vector.req)
  const faults = compare(answer, answerHere(vector.res, deviations), isEvent(vector.req))
  if (faults.length > 0) return result('failed', `${faults.join('; ')}; got ${String(answer.status)} ${answer.body.toString().slice(0, 300)}`)
  return result('passed', note)
}

/** Serves functions on a free port for one request. */
export async function exchange(
  functions: Parameters<typeof serve>[0],
  options: FunctionRuntimeOptions,
  sent: VectorRequest,
): Promise<Answer> {
  await using server = await listenFunctions(serve(functions, { log: silentLogger, ...options }), { port: 0 })
  const { method, path } = targetOf(sent)
  const headers: Record<string, string> = sent.ct === undefined ? {} : { 'content-type': sent.ct }
  for (const [name, value] of Object.entries(sent.ce ?? {})) headers[`ce-${name}`] = value
  const received = await request(server.url + path, { method, headers, body: bodyOf(sent) ?? null, reset: true })
  return { status: received.statusCode, headers: received.headers, body: Buffer.from(await received.body.arrayBuffer()) }
}

function hostedFunction(name: string, signature: Signature, code: ReturnType<typeof implementationOf>): HostedFunction {
  const { options } = signature
  return defineFunction<Descriptor, Descriptor>({ ...options, name }, (input, context) => code?.(input as never, context, { event }))
}

// "plus <app>" in a note: the functions and settings of that app come first.
function withBase(name: string, apps: VectorFile['apps']): App | undefined {
  const app = apps[name]
  const base = /\bplus ([\w-]+)/.exec(app?.note ?? '')?.[1]
  const other = base === undefined ? undefined : apps[base]
  if (app === undefined || other === undefined) return app
  return { ...app, functions: { ...other.functions, ...app.functions }, config: { ...other.config, ...app.config } }
}

function readSignatures(app: App): Map<string, Signature> {
  const read = new Map<string, Signature>()
  const schemas = (): [string, ReturnType<Beans['first']>][] => [...read].flatMap(([name, { options }]) =>
    options.input.kind === 'json' ? [[name, options.input.schema] as [string, ReturnType<Beans['first']>]] : [])
  const beans: Beans = {
    byName: (name) => schemas().find(([known]) => known === name)?.[1],
    first: () => schemas().find(([, schema]) => schema?.['type'] === 'object')?.[1],
  }
  for (const [name, text] of Object.entries(app.functions)) {
    const signature = parseSignature(text, beans)
    const [first] = read.values()
    // Attributes alone: a further member of a group that differs from the app's first function in attributes only.
    read.set(name, signature.filtersOnly && first !== undefined
      ? { ...first, filtersOnly: true, options: { ...first.options, ...signature.options, input: first.options.input, output: first.options.output } }
      : signature)
  }
  return read
}

function targetSignature(sent: VectorRequest, signatures: ReadonlyMap<string, Signature>): Signature | undefined {
  const name = targetOf(sent).path.replace(/\?.*$/, '').slice(1)
  const [only, another] = signatures.values()
  return signatures.get(name) ?? signatures.get(sent.ce?.['type'] ?? '') ?? (another === undefined ? only : undefined)
}

function settingsOf(app: App): FunctionRuntimeOptions {
  const mapping: Record<string, Record<string, string>> = {}
  let exported: string | undefined
  for (const [key, value] of Object.entries(app.config ?? {})) {
    const bare = key.replace(/^(?:quarkus\.funqy\.(?:knative-events\.mapping\.)?|sonatina\.function-runtime\.(?:mapping\.)?)/, '')
    if (bare === 'export') exported = value
    const [, name = '', setting = ''] = /^(.+)\.(trigger|response-type|response-source)$/.exec(bare) ?? []
    if (name !== '') mapping[name] = { ...mapping[name], [setting.replace(/-(\w)/, (_, letter: string) => letter.toUpperCase())]: value }
  }
  return { mapping: mapping, ...(exported === undefined ? {} : { export: exported }) }
}

function compare(answer: Answer, expected: VectorAnswer, event: boolean): string[] {
  const faults: string[] = []
  const header = (name: string): string | undefined => answer.headers[name]?.toString()
  const check = (holds: boolean, what: string): void => { if (!holds) faults.push(what) }
  check(answer.status === expected.status, `status ${String(expected.status)} expected`)
  if (expected.body !== undefined) {
    check(sameText(answer.body.toString(), expected.body), `body ${expected.body} expected`)
  }
  if (expected.jsonSubset !== undefined) check(isSubset(expected.jsonSubset, tryParse(answer.body.toString())), `body with ${JSON.stringify(expected.jsonSubset)} expected`)
  if (expected.hex !== undefined) check(answer.body.toString('hex') === expected.hex.toLowerCase(), `bytes ${expected.hex} expected`)
  if (expected.ct !== undefined) check(header('content-type')?.startsWith(expected.ct) === true, `content type ${expected.ct} expected`)
  for (const [name, value] of Object.entries(expected.ce ?? {})) {
    check(header(`ce-${name}`) === value, `ce-${name}: ${value} expected, got ${header(`ce-${name}`) ?? 'none'}`)
  }
  for (const name of expected.any ?? []) check((header(name) ?? '') !== '', `header ${name} expected`)
  for (const name of expected.absent ?? []) check(header(name) === undefined, `no header ${name} expected`)
  if (answer.status >= 400) check(typeof (tryParse(answer.body.toString()) as { message?: unknown }).message === 'string', 'a message expected')
  if (!event) check(!Object.keys(answer.headers).some((name) => name.startsWith('ce-')), 'no event expected')
  return faults
}

function sameText(got: string, expected: string): boolean {
  return got === expected || (expected !== '' && JSON.stringify(tryParse(got)) === JSON.stringify(tryParse(expected)))
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { notJson: text }
  }
}
