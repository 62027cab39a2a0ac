import { isJsonObject, setOwn, toPointer } from '../common/index.ts'
import { fromBase64, isBase64, toBase64 } from '../events/index.ts'
import type { Shapes } from './schema-shape.ts'
import type { JsonSchema } from './schema-types.ts'

/** A value after a step, or why the step failed. */
export type Checked = { readonly value: unknown } | { readonly fault: string }

/** Rewrites one scalar of a base64 member; gives `undefined` when it cannot. */
type Rewrite = (value: unknown) => unknown

/**
 * Turns base64 members of beans and lists into `Uint8Array` (decisions.md 8).
 *
 * @returns a copy where something changed, or the JSON pointer of text that is not base64
 */
export function decodeBytes(value: unknown, schema: JsonSchema, shapes: Shapes): Checked {
  let broken: string | undefined
  const decoded = walk(value, schema, shapes, [], (scalar, path) => {
    if (typeof scalar !== 'string') return scalar
    if (isBase64(scalar)) return fromBase64(scalar)
    broken ??= toPointer(path)
    return scalar
  })
  return broken === undefined ? { value: decoded } : { fault: `${broken} is not base64` }
}

/** Turns `Uint8Array` members of beans and lists into base64; anything else stays for the validation to judge. */
export function encodeBytes(value: unknown, schema: JsonSchema, shapes: Shapes): unknown {
  return walk(value, schema, shapes, [], (scalar) => scalar instanceof Uint8Array ? toBase64(scalar) : scalar)
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
    const member = shape.kind === 'object' && Object.hasOwn(shape.properties, name) ? shape.properties[name] : shape.values
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

function walk(
  value: unknown,
  schema: JsonSchema,
  shapes: Shapes,
  path: readonly (string | number)[],
  rewrite: (scalar: unknown, path: readonly (string | number)[]) => ReturnType<Rewrite>,
): unknown {
  const shape = shapes.of(schema)
  if (shape.kind === 'scalar') return shape.base64 ? rewrite(value, path) : value
  if (shape.kind === 'array') {
    const { items } = shape
    if (items === undefined || !Array.isArray(value)) return value
    return value.map((item: unknown, index) => walk(item, items, shapes, [...path, index], rewrite))
  }
  if (!isJsonObject(value) || value instanceof Uint8Array) return value
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = shape.kind === 'object' && Object.hasOwn(shape.properties, key) ? shape.properties[key] : shape.values
    setOwn(result, key, member === undefined ? value[key] : walk(value[key], member, shapes, [...path, key], rewrite))
  }
  return result
}
