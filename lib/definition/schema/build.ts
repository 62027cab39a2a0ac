/** A JSON Schema (2020-12). */
export type Schema = Readonly<Record<string, unknown>>

/**
 * How strict the schema is: `strict` is the specification to the letter, `tolerant` also takes what its own examples
 * and SonataFlow
 * definitions need. What only the tolerant one takes becomes a warning under the name of its tolerance.
 */
export type Mode = 'strict' | 'tolerant'

/** Property names that an object may have besides, or lack, when the schema is tolerant; by name of the tolerance. */
interface ObjectTolerances {
  /** Properties that may be absent. */
  readonly absent?: Readonly<Record<string, string>>
  /** Further properties, with the tolerance that lets them in. */
  readonly extra?: Readonly<Record<string, { readonly tolerance: string; readonly schema: Schema }>>
  /** Whether unknown properties are only warned about: where the official schema forgets to forbid them (S014). */
  readonly open?: boolean
}

/** Builds the parts of the schema for one mode. */
export interface Builder {
  readonly mode: Mode
  /** The strict schema, or the tolerant one, under the name of a tolerance. */
  readonly tolerate: (tolerance: string, strict: Schema, tolerant: Schema) => Schema
  /** An object without further properties. */
  readonly object: (properties: Readonly<Record<string, Schema>>, required: readonly string[], tolerances?: ObjectTolerances) => Schema
  /** A short form in text, or the object. */
  readonly textOr: (object: Schema) => Schema
  /** A list; `atLeast` items, which the tolerant schema does not ask for (S016). */
  readonly list: (items: Schema, atLeast?: number) => Schema
  readonly flag: Schema
}

/** A text that is not empty. */
export const TEXT: Schema = { type: 'string', minLength: 1 }
/** Any text. */
export const ANY_TEXT: Schema = { type: 'string' }
/** A duration (see `readDuration`). */
export const DURATION: Schema = { type: 'string', format: 'swf-duration' }
/** A number, the same in text, or an expression. */
export const NUMBER_OR_EXPRESSION: Schema = { type: ['number', 'string'], minLength: 1 }
/** Refers to a definition of the schema. */
export const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` })

/** Creates the builder of one mode. */
export function createBuilder(mode: Mode): Builder {
  const strict = mode === 'strict'
  const tolerate: Builder['tolerate'] = (tolerance, strictSchema, tolerant) => (strict ? { ...strictSchema, tolerance } : tolerant)
  return {
    mode,
    tolerate,
    object(properties, required, { absent = {}, extra = {}, open = false } = {}) {
      const further = Object.fromEntries(Object.entries(extra).map(([name, { schema }]) => [name, schema]))
      return {
        type: 'object',
        properties: strict ? properties : { ...properties, ...further },
        required: strict ? required : required.filter((name) => absent[name] === undefined),
        ...(strict || !open ? { additionalProperties: false } : {}),
        ...(strict ? { tolerances: { absent, extra, open } } : {}),
      }
    },
    textOr: (object) => ({ ...object, type: ['string', 'object'], minLength: 1 }),
    list: (items, atLeast = 0) => {
      const list = { type: 'array', items }
      return atLeast === 0 ? list : tolerate('empty-list', { ...list, minItems: atLeast }, list)
    },
    flag: tolerate('text-boolean', { type: 'boolean' }, { enum: [true, false, 'true', 'false'] }),
  }
}
