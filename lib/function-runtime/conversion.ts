import { isJsonObject, setOwn, toPointer } from '../common/index.ts'
import { fromBase64, isBase64, toBase64 } from '../events/index.ts'
import type { Shape, Shapes } from './schema-shape.ts'
import type { JsonSchema } from './schema-types.ts'

/** A value after a step, or why the step failed. */
export type Checked = { readonly value: unknown } | { readonly fault: string }

/**
 * Turns base64 members of beans and lists into `Uint8Array` (decisions.md 8).
 *
 * @returns a copy where something changed, or the JSON pointer of text that is not base64
 */
export function decodeBytes(value: unknown, schema: JsonSchema, shapes: Shapes): Checked {
  let broken: string | undefined
  const rewrite = (scalar: unknown, path: Path): unknown => {
    if (typeof scalar !== 'string') return scalar
    if (isBase64(scalar)) return fromBase64(scalar)
    broken ??= toPointer(path)
    return scalar
  }
  const decoded = walk(value, schema, { shapes, rewrite })
  return broken === undefined ? { value: decoded } : { fault: `${broken} is not base64` }
}

/** Turns `Uint8Array` members of beans and lists into base64; anything else stays for the validation to judge. */
export function encodeBytes(value: unknown, schema: JsonSchema, shapes: Shapes): unknown {
  return walk(value, schema, { shapes, rewrite: (scalar) => scalar instanceof Uint8Array ? toBase64(scalar) : scalar })
}

/** Renames properties to their spelling in the schema, where it differs in case only. */
export function matchNames(value: unknown, schema: JsonSchema, shapes: Shapes): unknown {
  const shape = shapes.of(schema)
  if (Array.isArray(value)) {
    const items = shape.kind === 'array' ? shape.items : undefined
    return items === undefined ? value : value.map((item: unknown) => matchNames(item, items, shapes))
  }
  if (!isJsonObject(value) || (shape.kind !== 'object' && shape.kind !== 'map')) return value
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const name = shape.kind === 'object' ? findName(shape.properties, key) ?? key : key
    const member = memberSchema(shape, name)
    setOwn(result, name, member === undefined ? value[key] : matchNames(value[key], member, shapes))
  }
  return result
}

/** Finds the declared spelling of a name, comparing without case; an exact match comes first. */
export function findName(properties: Readonly<Record<string, unknown>>, name: string): string | undefined {
  if (Object.hasOwn(properties, name)) return name
  const lower = name.toLowerCase()
  return Object.keys(properties).find((declared) => declared.toLowerCase() === lower)
}

type Path = readonly (string | number)[]

interface Walk {
  readonly shapes: Shapes
  /** Rewrites one scalar of a base64 member; gives it back when it cannot. */
  readonly rewrite: (scalar: unknown, path: Path) => unknown
}

function walk(value: unknown, schema: JsonSchema, { shapes, rewrite }: Walk): unknown {
  return visit(value, schema, [])

  function visit(part: unknown, form: JsonSchema, path: Path): unknown {
    const shape = shapes.of(form)
    if (shape.kind === 'scalar') return shape.base64 ? rewrite(part, path) : part
    if (shape.kind === 'array') {
      const { items } = shape
      return items === undefined || !Array.isArray(part) ? part : part.map((item: unknown, index) => visit(item, items, [...path, index]))
    }
    if (!isJsonObject(part) || part instanceof Uint8Array) return part
    const result: Record<string, unknown> = {}
    for (const key of Object.keys(part)) {
      const member = memberSchema(shape, key)
      setOwn(result, key, member === undefined ? part[key] : visit(part[key], member, [...path, key]))
    }
    return result
  }
}

function memberSchema(shape: Extract<Shape, { readonly kind: 'object' | 'map' }>, name: string): JsonSchema | undefined {
  return shape.kind === 'object' && Object.hasOwn(shape.properties, name) ? shape.properties[name] : shape.values
}
