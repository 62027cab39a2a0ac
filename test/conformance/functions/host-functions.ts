import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { access } from 'node:fs/promises'
import { event, type FunctionContext, type ReceivedEvent } from '../../../lib/function-runtime/index.ts'
import type { Signature } from './signature.ts'

/** What an implementation may use besides its input. */
interface Tools {
  readonly event: typeof event
}

/** Code of a function that the vectors describe in words; its input fits its descriptor. */
export type Implementation = (input: never, context: FunctionContext, tools: Tools) => unknown

/** Implementations by `<app>/<function>` or by function name. */
export type HostFunctions = Readonly<Record<string, Implementation>>

interface Pair { readonly i: number; readonly s: string }
interface Person { readonly name: string }

const names = (people: readonly Person[], separator: string): string => people.map(({ name }) => name).join(separator)
const greeting = (name: string): { name: string; message: string } => ({ name, message: `Hello ${name}!` })

const OWN: HostFunctions = {
  toLowerCase: (text: string) => text.toLowerCase(),
  toLowerCaseAsync: (text: string) => Promise.resolve(text.toLowerCase()),
  doubleIt: (number: number) => number * 2,
  doubleItAsync: (number: number) => Promise.resolve(number * 2),
  noopAsync: () => Promise.resolve(),
  template: () => undefined,
  context: () => undefined,
  annotatedEcho: (text: string) => text,
  range: (end: number) => Array.from({ length: end }, (_, index) => index),
  toCommaSeparated: (people: readonly Person[]) => names(people, ','),
  toSemicolonSeparated: (people: readonly Person[]) => names(people, ';'),
  'http-primitives/greet': (name: string) => greeting(name),
  greet: (person: Person) => greeting(person.name),
  doubleInt32BE: (payload: Uint8Array) => {
    const doubled = Buffer.alloc(4)
    doubled.writeInt32BE(Buffer.from(payload).readInt32BE() * 2)
    return doubled
  },
  'ke-wrapper/doubleIt': ({ data }: ReceivedEvent<Pair>) => event({
    id: 'double-it-id',
    type: 'double-it-type',
    source: '/OfDoubleIt',
    extserver: 'ext-server-val',
    dataschema: 'dataschema-server',
    data: { i: data.i * 2, s: data.s.repeat(2) },
  }),
  withDefaults: () => event({}),
  sum: ({ data }: ReceivedEvent<readonly Pair[]>) => event({ data: data.reduce((total, { i }) => total + i, 0) }),
}

/** Reads `host-functions.mjs` of a corpus folder; what it exports by default wins over our own implementations. */
export async function loadHostFunctions(folder: string): Promise<HostFunctions> {
  const path = join(folder, 'host-functions.mjs')
  const exists = await access(path).then(() => true, () => false)
  if (!exists) return OWN
  const module = await import(pathToFileURL(path).href) as { default: HostFunctions | ReadonlyMap<string, Implementation> }
  const given = module.default instanceof Map ? Object.fromEntries(module.default) as HostFunctions : module.default as HostFunctions
  return { ...OWN, ...given }
}

/** Finds the code of a function: given for its app, given for its name, or read off its signature. */
export function implementationOf(app: string, name: string, signature: Signature, functions: HostFunctions): Implementation | undefined {
  const given = functions[`${app}/${name}`] ?? functions[name]
  if (given !== undefined) return given
  const { literal, prefix, same, throws } = signature.behaviour
  if (throws) return () => { throw new TypeError('thrown on purpose') }
  if (literal !== undefined) return () => literal
  if (prefix !== undefined) return (input: unknown) => prefix + String(input)
  if (same) return (input: unknown) => input
  return signature.options.output.kind === 'nothing' ? () => undefined : undefined
}
