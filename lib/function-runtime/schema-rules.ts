import { isJsonObject, toPointer, type JsonObject } from '../common/index.ts'
import { isDescriptor } from './descriptors.ts'
import type { JsonSchema } from './schema-types.ts'

// Rule 4: beans, maps, lists and scalars. Combinators and conditions have no counterpart in a query and no single type.
const PERMITTED: ReadonlySet<string> = new Set([
  'type', 'properties', 'additionalProperties', 'required', 'items', 'enum', 'const', 'format', '$ref', '$defs', 'definitions',
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern',
  'minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'nullable', 'contentEncoding', 'contentMediaType',
  '$id', '$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly',
])
const SCHEMAS_BY_NAME = ['properties', '$defs', 'definitions'] as const

/**
 * Checks that a schema keeps to the types a function may have (rule 4 of function-runtime.md §7).
 *
 * @returns the faults, each with the JSON pointer of its place; empty when there are none
 */
export function schemaFaults(schema: unknown): string[] {
  const faults: string[] = []
  visit(schema, [], faults)
  if (isJsonObject(schema) && schema['contentEncoding'] !== undefined) {
    faults.push('a byte array cannot be the value itself; use the descriptor bytes')
  }
  return faults
}

/** What is wrong with a schema itself, those below it aside. */
function ownFaults(schema: JsonObject): string[] {
  const { $ref: reference, contentEncoding } = schema as JsonSchema
  const isInside = reference === undefined || (typeof reference === 'string' && reference.startsWith('#'))
  return [
    ...Object.keys(schema).filter((keyword) => !PERMITTED.has(keyword)).map((keyword) => `uses ${keyword}, which no function type has`),
    ...(isInside ? [] : [`refers to ${JSON.stringify(reference)}; only references inside the schema can be followed`]),
    ...(contentEncoding === undefined || contentEncoding === 'base64' ? [] : ['has a contentEncoding other than base64']),
  ]
}

function visit(schema: unknown, path: readonly string[], faults: string[]): void {
  const at = path.length === 0 ? 'the schema' : `the schema at ${toPointer(path)}`
  if (isDescriptor(schema)) {
    faults.push(`${at} is the descriptor ${schema.kind}; descriptors cannot stand in a schema, write JSON Schema`)
    return
  }
  if (!isJsonObject(schema)) {
    faults.push(`${at} is no object`)
    return
  }
  faults.push(...ownFaults(schema).map((fault) => `${at} ${fault}`))
  const { items, additionalProperties } = schema as JsonSchema
  for (const keyword of SCHEMAS_BY_NAME) {
    const named = schema[keyword]
    if (isJsonObject(named)) for (const name of Object.keys(named)) visit(named[name], [...path, keyword, name], faults)
  }
  if (items !== undefined) visit(items, [...path, 'items'], faults)
  if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean') {
    visit(additionalProperties, [...path, 'additionalProperties'], faults)
  }
}
