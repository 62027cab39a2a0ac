import { setOwn, toPointer, type Json } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'

/**
 * Freezes a value with all it holds, so that a host function cannot damage workflow data, and gives it back.
 *
 * Frozen parts are not visited again. Data is copied on write, so what one call froze is shared by the next: in the long run only
 * what is new is visited, which costs far less than a copy for every call.
 */
export function freezeData<Value extends Json>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value) as Json[]) freezeData(member)
  return value
}

// Deeper than any data that came through the server, and far from the end of the stack.
const MAX_DEPTH = 1000

/**
 * Copies what a host function gave back to plain JSON: `undefined` becomes null, members that are `undefined` disappear, objects with
 * `toJSON` (dates) are asked for it, bytes become base64 text.
 *
 * A copy, since the host may keep and change its own object.
 *
 * @throws {@link FunctionError} `FUNCTION_FAILED` with a JSON pointer to what JSON cannot hold: functions, symbols, big integers,
 * numbers that are not finite, cycles
 */
export function toJson(value: unknown, callee: string): Json {
  return convert(value, { callee, tokens: [] })
}

interface Place {
  readonly callee: string
  readonly tokens: (string | number)[]
}

function convert(value: unknown, place: Place): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return value
      throw unfit(place, `the number ${String(value)}`)
    case 'undefined':
      return null
    case 'object':
      return value === null ? null : convertObject(value, place)
    case 'bigint':
    case 'function':
    case 'symbol':
      throw unfit(place, `a ${typeof value}`)
  }
}

function convertObject(value: object, place: Place): Json {
  if (place.tokens.length > MAX_DEPTH) throw unfit({ ...place, tokens: place.tokens.slice(0, 10) }, 'a cycle, or nesting without end')
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  if ('toJSON' in value && typeof value.toJSON === 'function') return convert((value as { toJSON(): unknown }).toJSON(), place)
  if (Array.isArray(value)) return value.map((item: unknown, index) => convertMember(item, index, place))
  if (value instanceof Map) return convertObject(Object.fromEntries(value as Map<string, unknown>), place)
  if (value instanceof Set) return convertObject([...value], place)
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined) setOwn(copy, key, convertMember(member, key, place))
  }
  return copy as Json
}

function convertMember(value: unknown, token: string | number, place: Place): Json {
  place.tokens.push(token)
  const converted = convert(value, place)
  place.tokens.pop()
  return converted
}

function unfit({ callee, tokens }: Place, what: string): FunctionError {
  return new FunctionError({
    code: 'FUNCTION_FAILED',
    message: `${callee} gave back ${what}${tokens.length === 0 ? '' : ` at ${toPointer(tokens)}`}, which JSON cannot hold`,
  })
}
