import { isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import { DefinitionError, FunctionError } from '../../errors/index.ts'
import { andThen, describeFunction, malformed, type FunctionSource } from '../compile-options.ts'
import type { FunctionCall, FunctionResult, Invoker } from '../invoker.ts'
import { isJsonArray } from '../json-array.ts'
import { parseRoot, type Root } from '../remote/root.ts'
import { createCaller } from './caller.ts'
import type { RemoteParts } from './parts.ts'

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/

/**
 * Compiles `<endpoint>#query|mutation#<field>` of a GraphQL service (S121, S122): arguments and selection set of the action, evaluated,
 * make the operation; the result is `{<field>: …}`.
 *
 * Arguments are written into the operation as literals. A function whose arguments need other types (enums, ids) declares them in
 * `metadata.variables`, `{"status": "Status!"}`: these are sent as variables.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for a malformed operation, `DEFINITION_UNSUPPORTED` for a subscription
 */
export function compileGraphql(source: FunctionSource, parts: RemoteParts): Invoker {
  const { endpoint, kind, field } = parseOperation(source)
  const variables = variableTypes(source)
  const callee = source.definition.name
  const callService = createCaller(source, parts)
  return {
    invoke(call) {
      const request = createRequest(call, { kind, field, variables, callee })
      const sent = callService(call.context, {
        method: 'POST',
        root: endpoint.root,
        path: endpoint.path,
        query: endpoint.query,
        headers: { accept: 'application/graphql-response+json, application/json', 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      return andThen(sent, (result) => readResult(result, callee))
    },
  }
}

interface Operation {
  readonly kind: string
  readonly field: string
  readonly variables: Readonly<Record<string, string>>
  readonly callee: string
}

function createRequest({ arguments: given, selectionSet }: FunctionCall, { kind, field, variables, callee }: Operation): JsonObject {
  if (given !== undefined && given !== null && !isJsonObject(given)) throw refused(callee, 'takes named arguments (an object)')
  const names = Object.keys(given ?? {})
  for (const name of names) if (!NAME.test(name)) throw refused(callee, `"${name}" cannot be the name of a GraphQL argument`)
  const typed = names.filter((name) => Object.hasOwn(variables, name))
  const declared = typed.map((name) => `$${name}: ${variables[name] ?? ''}`).join(', ')
  const passed = names.map((name) => `${name}: ${typed.includes(name) ? `$${name}` : toLiteral(given?.[name] ?? null, callee)}`).join(', ')
  const selection = selectionSet === undefined ? '' : ` ${checkSelection(selectionSet.trim(), callee)}`
  const query = `${kind}${declared === '' ? '' : ` (${declared})`} { ${field}${passed === '' ? '' : `(${passed})`}${selection} }`
  return typed.length === 0 ? { query } : { query, variables: Object.fromEntries(typed.map((name) => [name, given?.[name] ?? null])) }
}

/** Writes a value as a GraphQL literal (GraphQL §2.9); its texts are written as JSON texts are. */
function toLiteral(value: Json, callee: string): string {
  if (isJsonArray(value)) return `[${value.map((item) => toLiteral(item, callee)).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{${Object.keys(value).map((name) => {
    if (!NAME.test(name)) throw refused(callee, `"${name}" cannot be the name of a GraphQL field`)
    return `${name}: ${toLiteral(value[name] ?? null, callee)}`
  }).join(', ')}}`
}

/** Asserts that a selection set is one pair of braces: what data puts into it must not begin another operation. */
function checkSelection(selection: string, callee: string): string {
  const bare = selection.replace(/"""[^]*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*/g, '""')
  let depth = 0
  for (let index = 0; index < bare.length; index++) {
    if (bare[index] === '{') depth += 1
    if (bare[index] === '}') depth -= 1
    if (depth <= 0 && index < bare.length - 1) depth = -1
    if (depth < 0) break
  }
  if (depth !== 0 || !bare.startsWith('{') || selection.includes('#')) throw refused(callee, 'the selection set must be one pair of braces: "{ id, name }"')
  return selection
}

function readResult(result: FunctionResult, callee: string): FunctionResult {
  const { output } = result
  if (!isJsonObject(output)) throw failed(callee, 'the answer is not a GraphQL response')
  const { errors, data } = output as { errors?: Json; data?: Json }
  if (isJsonArray(errors) && errors.length > 0) {
    const messages = errors.map((error) => (isJsonObject(error) ? error['message'] : undefined)).filter((message) => typeof message === 'string')
    throw failed(callee, messages.join('; ').slice(0, 8192) || 'the answer holds errors without message')
  }
  return { ...result, output: data ?? null }
}

function parseOperation(source: FunctionSource): { readonly endpoint: { root: Root; path: string; query: string }; readonly kind: string; readonly field: string } {
  const match = /^(.*)#([^#]*)#([^#]*)$/.exec(source.definition.operation)
  const [, address = '', kind = '', field = ''] = match?.map((part) => part.trim()) ?? []
  if (kind === 'subscription') {
    throw new DefinitionError({ code: 'DEFINITION_UNSUPPORTED', message: `${describeFunction(source)} is a GraphQL subscription; the specification has queries and mutations only` })
  }
  if (match === null || (kind !== 'query' && kind !== 'mutation') || !NAME.test(field)) throw malformed(source, '"<endpoint>#query#<field>" or "<endpoint>#mutation#<field>"')
  const [base = '', query = ''] = address.split('?')
  const root = parseRoot(base)
  if (typeof root === 'string') throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `The endpoint of ${describeFunction(source)} ${root}` })
  return { endpoint: { root: { origin: root.origin, basePath: '' }, path: root.basePath === '' ? '/' : root.basePath, query }, kind, field }
}

function variableTypes({ definition }: FunctionSource): Readonly<Record<string, string>> {
  const declared = definition.metadata['variables']
  if (!isJsonObject(declared)) return {}
  return Object.fromEntries(Object.entries(declared).filter((entry): entry is [string, string] => typeof entry[1] === 'string' && /^[[\]!_0-9A-Za-z]+$/.test(entry[1])))
}

function refused(callee: string, problem: string): FunctionError {
  return new FunctionError({ code: 'FUNCTION_ARGUMENT_INVALID', message: `Function ${callee}: ${problem}` })
}

function failed(callee: string, problem: string): FunctionError {
  return new FunctionError({ code: 'FUNCTION_FAILED', message: `Function ${callee} failed: ${problem}` })
}
