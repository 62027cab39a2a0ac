import type { Json, JsonObject } from '../common/index.ts'
import { createBindings, type Bindings, type BindingsOptions } from '../expressions/index.ts'
import type { PathContext } from './context.ts'
import type { InstanceFacts } from './facts.ts'
import type { Program } from './program.ts'

/** Reads settings for `$SECRET` and `$SECRETS`. */
export interface SecretReader {
  read(key: string): string | undefined
}

/** The variables that expressions of one instance can read: `$WORKFLOW`, `$CONST`, `$SECRET(S)` and the variables of loops. */
export class InstanceBindings implements BindingsOptions {
  readonly constants: JsonObject
  readonly secrets: SecretReader
  readonly declaredSecrets: readonly string[]
  readonly #program: Program
  readonly #facts: InstanceFacts
  #current: PathContext | undefined
  #members: NonNullable<BindingsOptions['workflow']> | undefined
  #shared: Bindings | undefined

  constructor(program: Program, facts: InstanceFacts, secrets: SecretReader) {
    this.#program = program
    this.#facts = facts
    this.constants = program.definition.constants
    this.secrets = secrets
    this.declaredSecrets = program.definition.secrets
  }

  /** Made when an expression reads it: most never do. */
  get workflow(): NonNullable<BindingsOptions['workflow']> {
    return this.#members ??= membersOf(this.#program, this.#facts, () => this.#current)
  }

  /** The variables for an evaluation against a context. */
  at(context: PathContext): Bindings {
    this.#current = context
    const { variables } = context
    if (variables === undefined) return this.#shared ??= createBindings(this)
    const { constants, secrets, declaredSecrets, workflow } = this
    return createBindings({ constants, secrets, declaredSecrets, workflow, variables })
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
