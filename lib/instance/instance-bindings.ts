import type { Json } from '../common/index.ts'
import { createBindings, type Bindings, type BindingsOptions } from '../expressions/index.ts'
import type { PathContext } from './context.ts'
import type { InstanceFacts } from './facts.ts'
import type { Program } from './program.ts'

/** Reads settings for `$SECRET` and `$SECRETS`. */
export interface SecretReader {
  read(key: string): string | undefined
}

/** Makes the variables that expressions of one instance can read; the context is handed over at each evaluation. */
export interface InstanceBindings {
  at(context: PathContext): Bindings
}

/** Creates the bindings of an instance: `$WORKFLOW`, `$CONST`, `$SECRET(S)` and the variables of loops. */
export function createInstanceBindings(program: Program, facts: InstanceFacts, secrets: SecretReader): InstanceBindings {
  const { definition } = program
  let current: PathContext | undefined
  let members: BindingsOptions['workflow']
  const options: BindingsOptions = {
    constants: definition.constants,
    secrets,
    declaredSecrets: definition.secrets,
    // Most definitions never read it.
    get workflow() { return members ??= membersOf(program, facts, () => current) },
  }
  const shared = createBindings(options)
  return {
    at(context) {
      current = context
      const { variables } = context
      return variables === undefined ? shared : createBindings({ ...options, variables })
    },
  }
}

/** Members of `$WORKFLOW`. */
function membersOf({ definition }: Program, facts: InstanceFacts, current: () => PathContext | undefined): NonNullable<BindingsOptions['workflow']> {
  const orNull = (value: unknown): Json => (value ?? null) as Json
  return {
    id: () => definition.id,
    name: () => definition.name ?? definition.id,
    version: () => facts.version,
    instanceId: () => facts.id,
    headers: () => readWithoutCase(facts.headers),
    identity: () => facts.identity ?? 'anonymous',
    input: () => facts.input,
    prevActionResult: () => orNull(current()?.previous),
    statusCode: () => orNull(current()?.response?.statusCode),
    statusMessage: () => orNull(current()?.response?.statusMessage),
    responseHeaders: () => orNull(current()?.response?.headers),
    error: () => orNull(current()?.error),
  }
}

/** Lets headers be read in any spelling of their names; listed, they are in lower case (http-contract.md §2). */
function readWithoutCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return new Proxy(headers, {
    get: (target, name) => Reflect.get(target, spell(name)) as unknown,
    has: (target, name) => Reflect.has(target, spell(name)),
    getOwnPropertyDescriptor(target, name) {
      const value = typeof name === 'string' && Object.hasOwn(target, name.toLowerCase()) ? target[name.toLowerCase()] : undefined
      return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: false }
    },
  })
}

function spell(name: string | symbol): string | symbol {
  return typeof name === 'string' ? name.toLowerCase() : name
}
