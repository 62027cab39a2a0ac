import type { Json, JsonObject } from '../common/index.ts'
import type { Bindings } from './evaluator.ts'
import { ProgramFailure } from './language.ts'
import { LAZY, type LazyRecord } from './lazy-record.ts'

/** Where the values of variables come from. */
export interface BindingsOptions {
  /** Members of `$WORKFLOW`, each made when it is read. */
  readonly workflow?: Readonly<Record<string, () => unknown>>
  /** Where secrets are read; `undefined` for a key that has none. */
  readonly secrets?: { read(key: string): string | undefined }
  /** Names of the definition's `secrets`: only these can be read through `$SECRETS` (A21). */
  readonly declaredSecrets?: readonly string[]
  /** The definition's `constants`. */
  readonly constants?: JsonObject
  /** Further variables by name, such as the parameters of foreach. */
  readonly variables?: Readonly<Record<string, Json>>
}

/**
 * Creates what expressions can read beside their input: `$WORKFLOW`, `$SECRET`, `$SECRETS`, `$CONST` and plain variables.
 *
 * Nearly free: nothing is made before a program reads it. `$SECRET` and `$SECRETS` have no list of members, so they
 * cannot be printed or passed on (expressions.md "Bindings").
 */
export function createBindings(options: BindingsOptions): Bindings {
  return new OptionBindings(options)
}

/** Bindings without any variable. */
export const NO_BINDINGS: Bindings = { read: () => undefined }

class OptionBindings implements Bindings {
  readonly #options: BindingsOptions

  constructor(options: BindingsOptions) {
    this.#options = options
  }

  read(name: string): unknown {
    const { variables, workflow, constants, secrets, declaredSecrets } = this.#options
    if (variables !== undefined && Object.hasOwn(variables, name)) return variables[name]
    switch (name) {
      case 'WORKFLOW': return new WorkflowRecord(workflow ?? {})
      case 'CONST': return constants ?? {}
      case 'SECRET': return new SecretRecord(secrets, undefined)
      case 'SECRETS': return new SecretRecord(secrets, declaredSecrets)
      default: return undefined
    }
  }
}

class WorkflowRecord implements LazyRecord {
  readonly [LAZY] = true
  readonly #members: Readonly<Record<string, () => unknown>>

  constructor(members: Readonly<Record<string, () => unknown>>) {
    this.#members = members
  }

  get keys(): readonly string[] {
    return Object.keys(this.#members)
  }

  get(key: string): unknown {
    return Object.hasOwn(this.#members, key) ? this.#members[key]?.() : undefined
  }
}

class SecretRecord implements LazyRecord {
  readonly [LAZY] = true
  readonly #secrets: BindingsOptions['secrets']
  readonly #declared: readonly string[] | undefined

  constructor(secrets: BindingsOptions['secrets'], declared: readonly string[] | undefined) {
    this.#secrets = secrets
    this.#declared = declared
  }

  get(key: string): unknown {
    // `_` stands for `.`, because a dot is not allowed in a name of jq.
    const dotted = key.replaceAll('_', '.')
    if (this.#declared !== undefined && !this.#declared.includes(key) && !this.#declared.includes(dotted)) {
      throw new ProgramFailure('failed', `secret ${JSON.stringify(key)} is not declared; add it to "secrets" of the definition`)
    }
    return this.#secrets?.read(key) ?? (dotted === key ? undefined : this.#secrets?.read(dotted))
  }
}
