import { Ajv2020, type ErrorObject, type Options } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { isJsonObject, setOwn } from '../common/index.ts'
import { decodeBytes, encodeBytes, matchNames, type Checked } from './conversion.ts'
import { Shapes } from './schema-shape.ts'
import type { JsonSchema } from './schema-types.ts'

/** A schema compiled at start. */
export interface CompiledSchema {
  readonly schema: JsonSchema
  readonly shapes: Shapes
  readonly acceptsNull: boolean
  /** Validates a JSON value and turns it into what the handler gets; the fault lists JSON pointers and reasons. */
  read(value: unknown): Checked
  /** Turns what the handler gave into JSON and validates it. */
  write(value: unknown): Checked
}

const SETTINGS: Options = {
  strict: true,
  // Unions with null are the way to say that a value may be missing.
  allowUnionTypes: true,
  strictTypes: false,
  strictRequired: false,
  // Two functions may use schemas with one $id.
  addUsedSchema: false,
}
const MAX_VIOLATIONS = 20
const MAX_EXPLAINED_NODES = 10_000

const first = withFormats(new Ajv2020({ ...SETTINGS, allErrors: false }))
const all = withFormats(new Ajv2020({ ...SETTINGS, allErrors: true }))

/**
 * Compiles a schema that keeps to the permitted types.
 *
 * Integers beyond 2^53−1 are refused, since they have lost digits by the time they are read.
 *
 * @throws Error of Ajv when the schema cannot be compiled
 */
export function compileSchema(schema: JsonSchema, caseInsensitive: boolean): CompiledSchema {
  const bounded = withSafeIntegers(schema) as JsonSchema
  const validate = first.compile(bounded)
  const explain = all.compile(bounded)
  const shapes = new Shapes(schema)
  const hasBytes = JSON.stringify(schema).includes('"contentEncoding"')
  const fault = (value: unknown): string => {
    // All violations of a hostile body would take memory without bound.
    if (!isSmall(value, { left: MAX_EXPLAINED_NODES })) return describe(validate.errors)
    explain(value)
    return describe(explain.errors)
  }
  return {
    schema,
    shapes,
    acceptsNull: validate(null),
    read: (received) => {
      const value = caseInsensitive ? matchNames(received, schema, shapes) : received
      if (!validate(value)) return { fault: fault(value) }
      return hasBytes ? decodeBytes(value, schema, shapes) : { value }
    },
    write: (given) => {
      const value = hasBytes ? encodeBytes(given, schema, shapes) : given
      return validate(value) ? { value } : { fault: fault(value) }
    },
  }
}

function withFormats(ajv: Ajv2020): Ajv2020 {
  formats.default(ajv)
  return ajv
}

function withSafeIntegers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withSafeIntegers)
  if (!isJsonObject(schema)) return schema
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(schema)) {
    const isData = key === 'enum' || key === 'const' || key === 'default' || key === 'examples'
    setOwn(copy, key, isData ? schema[key] : withSafeIntegers(schema[key]))
  }
  if (copy['type'] === 'integer' || (Array.isArray(copy['type']) && copy['type'].includes('integer'))) {
    const { minimum, maximum } = copy
    copy['minimum'] = typeof minimum === 'number' ? Math.max(minimum, Number.MIN_SAFE_INTEGER) : Number.MIN_SAFE_INTEGER
    copy['maximum'] = typeof maximum === 'number' ? Math.min(maximum, Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER
  }
  return copy
}

function describe(errors: readonly ErrorObject[] | null | undefined): string {
  const lines = (errors ?? []).slice(0, MAX_VIOLATIONS).map(({ instancePath, message, params }) => {
    const allowed = Array.isArray(params['allowedValues']) ? `: ${JSON.stringify(params['allowedValues'])}` : ''
    return `${instancePath === '' ? 'the value' : instancePath} ${message ?? 'is wrong'}${allowed}`
  })
  const more = (errors?.length ?? 0) - lines.length
  return more > 0 ? `${lines.join('; ')}; and ${String(more)} more` : lines.join('; ')
}

function isSmall(value: unknown, budget: { left: number }): boolean {
  if (--budget.left < 0) return false
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((member) => isSmall(member, budget))
}
