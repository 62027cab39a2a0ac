import { isJsonObject, setOwn, type Json } from '../../common/index.ts'
import { FunctionError } from '../../errors/index.ts'
import { toText } from '../openapi/encode.ts'
import { appendPairs } from '../openapi/query.ts'
import { isJsonArray } from '../json-array.ts'

/** Arguments of `rest:` and `knative:` functions, sorted by where they go. */
export interface SortedArguments {
  /** `HEADER_<name>`. */
  readonly headers: Readonly<Record<string, string>>
  /** `QUERY_<name>`, encoded, without `?`. */
  readonly query: string
  /** The others; `undefined` when there are none. */
  readonly rest: Json | undefined
}

const HEADER = 'HEADER_'
const QUERY = 'QUERY_'
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/**
 * Sorts arguments by their prefix, as SonataFlow names them: `HEADER_x` is header `x`, `QUERY_x` query parameter `x`.
 *
 * A value that is not an object is the rest as a whole; null in a header or query parameter means "not given".
 *
 * @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID` for what cannot be a header
 */
export function sortArguments(given: Json | undefined, callee: string): SortedArguments {
  if (!isJsonObject(given)) return { headers: {}, query: '', rest: given }
  const headers: Record<string, string> = {}
  const rest: Record<string, unknown> = {}
  let query = ''
  let hasRest = false
  for (const key of Object.keys(given)) {
    const value = given[key] as Json
    if (key.startsWith(HEADER)) {
      if (value !== null) setOwn(headers, key.slice(HEADER.length), headerValue(key.slice(HEADER.length), value, callee))
    } else if (key.startsWith(QUERY)) {
      query = appendPairs(query, key.slice(QUERY.length), value)
    } else {
      hasRest = true
      setOwn(rest, key, value)
    }
  }
  return { headers, query, rest: hasRest ? rest as Json : undefined }
}

function headerValue(name: string, value: Json, callee: string): string {
  const text = isJsonArray(value) ? value.map(toText).join(', ') : toText(value)
  if (HEADER_NAME.test(name) && HEADER_VALUE.test(text)) return text
  throw new FunctionError({
    code: 'FUNCTION_ARGUMENT_INVALID',
    message: `${callee}: argument "${HEADER}${name}" cannot be a header: its name must be a token, its value one line of Latin-1`,
  })
}
