import {
  bytes,
  cloudEvent,
  json,
  nothing,
  type DataDescriptor,
  type Descriptor,
  type FunctionOptions,
  type JsonSchema,
} from '../../../lib/function-runtime/index.ts'

/** A signature of the vectors, read: `string->{name,message}, trigger x, source=y & custom=z, responseType t`. */
export interface Signature {
  readonly options: FunctionOptions
  /** What stands for the behaviour in the signature itself: a literal answer, `same`, `throws`. */
  readonly behaviour: { readonly literal?: string; readonly prefix?: string; readonly same: boolean; readonly throws: boolean }
  /** Whether attributes are given without a trigger and without types: it then shares both with the app's first function. */
  readonly filtersOnly: boolean
}

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  bool: { type: 'boolean' },
  time: { type: 'string', format: 'date-time' },
  double: { type: 'number' },
  float: { type: 'number' },
  number: { type: 'number' },
  byte: { type: 'integer', minimum: -(2 ** 7), maximum: 2 ** 7 - 1 },
  short: { type: 'integer', minimum: -(2 ** 15), maximum: 2 ** 15 - 1 },
  int: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  integer: { type: 'integer' },
  long: { type: 'integer' },
}

// Members of beans have no types in the vectors; their names tell.
const MEMBERS: readonly (readonly [RegExp, (match: RegExpExecArray, beans: Beans) => JsonSchema])[] = [
  [/^(\w+)Map$/, ([, name = ''], beans) => ({ type: 'object', additionalProperties: element(name, beans) })],
  [/^(\w+?)List$/, ([, name = ''], beans) => ({ type: 'array', items: element(name, beans) })],
  [/^(\w+?)Set$/, ([, name = ''], beans) => ({ type: 'array', items: element(name, beans), uniqueItems: true })],
  [/^(byte|short|int|long|double|float|bool|boolean|string)(?:Val|Value)?$/i, ([, name = '']) => SCALARS[name.toLowerCase()] ?? {}],
  [/^b$/, () => SCALARS['byte'] ?? {}],
  [/^i$/, () => SCALARS['int'] ?? {}],
  [/time$/i, () => SCALARS['time'] ?? {}],
  [/^nested/, (_match, beans) => beans.first() ?? { type: 'object' }],
  [/^(s|value|name|message|greeting|punctuation|first|last)$/, () => SCALARS['string'] ?? {}],
]

/** Beans that other signatures of the app have named, so that `simpleList` is a list of `simple`. */
export interface Beans {
  byName(name: string): JsonSchema | undefined
  first(): JsonSchema | undefined
}

const NO_BEANS: Beans = { byName: () => undefined, first: () => undefined }

/** Reads a signature; types that it does not know are any JSON. */
export function parseSignature(text: string, beans: Beans = NO_BEANS): Signature {
  const arrow = text.indexOf('->')
  const options = parseOptions(arrow < 0 ? text : text.slice(arrow + 2))
  if (arrow < 0) {
    const none = { input: nothing, output: nothing }
    return { options: { ...none, ...options }, behaviour: { same: false, throws: false }, filtersOnly: true }
  }
  const left = text.slice(0, arrow).trim()
  const right = text.slice(arrow + 2).trim()
  const input = toDescriptor(left, beans)
  const literal = /^(?:async )?(?:string )?'([^']*)'(\s*\+)?/.exec(right)
  const same = right.startsWith('same')
  const output = literal !== null ? json({ type: 'string' }) : same ? input : toDescriptor(right, beans)
  return {
    options: { input, output, ...options },
    behaviour: {
      ...(literal?.[1] === undefined ? {} : literal[2] === undefined ? { literal: literal[1] } : { prefix: literal[1] }),
      same,
      throws: /(^|\s)throws\b(?! on)/.test(right),
    },
    filtersOnly: false,
  }
}

function parseOptions(text: string): Partial<FunctionOptions> {
  const pick = (word: string): string | undefined => new RegExp(`\\b${word}[ =]+([^\\s,;]+)`).exec(text)?.[1]
  const [trigger, responseType, responseSource] = [pick('trigger'), pick('responseType'), pick('responseSource')]
  const attributes = Object.fromEntries([...text.matchAll(/(?:^|[\s,&])(\w+)=([^\s,&;]+)/g)].map(([, name, value]) => [name ?? '', value ?? '']))
  return {
    ...(trigger === undefined ? {} : { trigger }),
    ...(responseType === undefined ? {} : { responseType }),
    ...(responseSource === undefined ? {} : { responseSource }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
  }
}

function toDescriptor(text: string, beans: Beans): Descriptor {
  const bare = text.replace(/^async /, '').trim()
  const wrapped = /^CloudEvent</.exec(bare)
  if (wrapped !== null) return cloudEvent(toData(enclosed(bare, wrapped[0].length - 1), beans))
  // `(string, @Context CloudEvent)`: the context is always there.
  return toData(bare.startsWith('(') ? enclosed(bare, 0).replace(/,?\s*@Context.*$/, '') : bare, beans)
}

function toData(text: string, beans: Beans): DataDescriptor {
  if (text === '' || /^void\b/.test(text)) return nothing
  return /^bytes\b/.test(text) ? bytes : json(toSchema(text, beans))
}

/** Reads a type: scalar, `[T]`, `List<T>`, `Set<T>`, `Map<K,T>`, `{a,b:T}`. */
function toSchema(text: string, beans: Beans = NO_BEANS): JsonSchema {
  const type = text.trim()
  const list = /^(?:\[|List<|Set<)/.exec(type)
  if (list !== null) {
    const items = toSchema(enclosed(type, list[0].length - 1), beans)
    return type.startsWith('Set') ? { type: 'array', items, uniqueItems: true } : { type: 'array', items }
  }
  if (type.startsWith('Map<')) {
    return { type: 'object', additionalProperties: toSchema(enclosed(type, 3).replace(/^[^,]*,/, ''), beans) }
  }
  if (type.startsWith('{')) {
    return { type: 'object', properties: Object.fromEntries(splitMembers(enclosed(type, 0)).map((member) => toMember(member, beans))) }
  }
  return SCALARS[/^\w+/.exec(type)?.[0].toLowerCase() ?? ''] ?? {}
}

function toMember(text: string, beans: Beans): [string, JsonSchema] {
  const [name = '', type] = text.split(/:(.*)/s).map((part) => part.trim())
  if (type !== undefined && type !== '') return [name, toSchema(type, beans)]
  for (const [pattern, make] of MEMBERS) {
    const match = pattern.exec(name)
    if (match !== null) return [name, make(match, beans)]
  }
  return [name, {}]
}

function element(name: string, beans: Beans): JsonSchema {
  // The key type of a map says nothing about its values: keys are texts in JSON.
  return SCALARS[name.toLowerCase()] ?? beans.byName(name) ?? (name.endsWith('Key') ? { type: 'string' } : {})
}

// The text between the bracket at `start` and the one that closes it.
function enclosed(text: string, start: number): string {
  let depth = 0
  for (let index = start; index < text.length; index++) {
    if ('<{[('.includes(text[index] ?? ' ')) depth++
    else if ('>}])'.includes(text[index] ?? ' ') && --depth === 0) return text.slice(start + 1, index)
  }
  return text.slice(start + 1)
}

function splitMembers(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let index = 0; index <= text.length; index++) {
    const character = text[index] ?? ','
    if ('<{[('.includes(character)) depth++
    else if ('>}])'.includes(character)) depth--
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(from, index).trim())
      from = index + 1
    }
  }
  return parts.filter((part) => part !== '')
}
