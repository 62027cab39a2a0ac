import type { Json } from '../../../common/index.ts'
import { readKey } from '../access.ts'
import { add, splitString } from '../arithmetic.ts'
import { eachItem } from '../compile/paths.ts'
import { toJson } from '../dump.ts'
import { JqError } from '../failure.ts'
import { fromJson } from '../json-text.ts'
import type { Run } from '../run.ts'
import { isArray, isTruthy } from '../value.ts'
import { binary, unary, type Builtins } from './define.ts'

const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/
const NOT_A_NUMBER = /^[+-]?nan$/i
const INFINITY = /^[+-]?inf(?:inity)?$/i
const LEADING = /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/
const BLANKS = new Set('\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000')

/** Builtins on strings. */
export const STRINGS: Builtins = {
  'tonumber/0': unary(toNumber),
  'toboolean/0': unary((value) => {
    if (typeof value === 'boolean') return value
    if (value === 'true' || value === 'false') return value === 'true'
    throw new JqError('%0 cannot be parsed as a boolean', [value])
  }),
  'fromjson/0': unary((value, run) => {
    if (typeof value !== 'string') throw new JqError('%0 only strings can be parsed', [value])
    run.charge(value.length / 8)
    run.spend(value.length >> 4)
    return fromJson(value)
  }),
  'explode/0': unary((value, run) => {
    const text = assertText(value, 'explode input must be a string')
    run.charge(text.length)
    return Array.from(text, (char) => char.codePointAt(0) ?? 0)
  }),
  'implode/0': unary(implode),
  'ascii_downcase/0': unary((value) => assertText(value, 'explode input must be a string').replaceAll(/[A-Z]+/g, (part) => part.toLowerCase())),
  'ascii_upcase/0': unary((value) => assertText(value, 'explode input must be a string').replaceAll(/[a-z]+/g, (part) => part.toUpperCase())),
  'startswith/1': binary((value, part) => both(value, part, 'startswith() requires string inputs', (text, start) => text.startsWith(start))),
  'endswith/1': binary((value, part) => both(value, part, 'endswith() requires string inputs', (text, end) => text.endsWith(end))),
  'ltrimstr/1': binary((value, part) => both(value, part, 'startswith() requires string inputs', trimStart)),
  'rtrimstr/1': binary((value, part) => both(value, part, 'endswith() requires string inputs', trimEnd)),
  'trimstr/1': binary((value, part) => both(value, part, 'startswith() requires string inputs', (text, cut) => trimEnd(trimStart(text, cut), cut))),
  'trim/0': unary((value) => trimRight(assertText(value, 'trim input must be a string').replace(LEADING, ''))),
  'ltrim/0': unary((value) => assertText(value, 'trim input must be a string').replace(LEADING, '')),
  'rtrim/0': unary((value) => trimRight(assertText(value, 'trim input must be a string'))),
  'split/1': binary((value, separator, run) => both(value, separator, 'split input and separator must be strings', (text, by) => splitString(text, by, run))),
  'join/1': binary((value, separator, run) => join(value, separator, run)),
  'indices/1': binary((value, wanted, run) => indices(value, wanted, run)),
  '_indices/1': binary((value, wanted, run) => indices(value, wanted, run)),
  'index/1': binary((value, wanted, run) => pick(indices(value, wanted, run), 0)),
  'rindex/1': binary((value, wanted, run) => pick(indices(value, wanted, run), -1)),
  '_strindices/1': binary((value, wanted, run) => {
    if (typeof value !== 'string') throw new JqError('%0 cannot be searched, as it is not a string', [value])
    if (typeof wanted !== 'string') throw new JqError('%0 is not a string', [wanted])
    return stringIndices(value, wanted, run)
  }),
}

function assertText(value: Json, message: string): string {
  if (typeof value !== 'string') throw new JqError(message)
  return value
}

function both<T extends Json>(value: Json, other: Json, message: string, compute: (value: string, other: string) => T): T {
  if (typeof value !== 'string' || typeof other !== 'string') throw new JqError(message)
  return compute(value, other)
}

function trimStart(text: string, cut: string): string {
  return text.startsWith(cut) ? text.slice(cut.length) : text
}

function trimEnd(text: string, cut: string): string {
  return cut !== '' && text.endsWith(cut) ? text.slice(0, -cut.length) : text
}

// A regular expression for trailing blanks would be quadratic.
function trimRight(text: string): string {
  let end = text.length
  while (end > 0 && BLANKS.has(text[end - 1] ?? '')) end -= 1
  return text.slice(0, end)
}

function toNumber(value: Json): Json {
  if (typeof value === 'number') return value
  if (typeof value === 'string') {
    if (NUMBER.test(value)) return Number(value)
    if (NOT_A_NUMBER.test(value)) return NaN
    if (INFINITY.test(value)) return value.startsWith('-') ? -Infinity : Infinity
  }
  throw new JqError('%0 cannot be parsed as a number', [value])
}

function implode(value: Json, run: Run): Json {
  if (!isArray(value)) throw new JqError('implode input must be an array')
  run.charge(value.length / 8)
  return value.map((point) => {
    if (typeof point !== 'number' || Number.isNaN(point)) throw new JqError('%0 can\'t be imploded, unicode codepoint needs to be numeric', [point])
    const code = Math.trunc(point)
    return code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : String.fromCodePoint(code)
  }).join('')
}

function join(value: Json, separator: Json, run: Run): Json {
  let text: Json = null
  eachItem(value, run, (item) => {
    const head: Json = text === null ? '' : add(text, separator, run)
    const tail = item === null ? '' : typeof item === 'number' || typeof item === 'boolean' ? toJson(item) : item
    text = add(head, tail, run)
    return false
  })
  return isTruthy(text) ? text : ''
}

function indices(value: Json, wanted: Json, run: Run): Json {
  if (typeof value === 'string' && typeof wanted === 'string') return stringIndices(value, wanted, run)
  if (isArray(value)) {
    const list = isArray(wanted) ? wanted : [wanted]
    run.spend(value.length * Math.max(1, list.length))
    return readKey(value, list)
  }
  return readKey(value, wanted)
}

/** Finds all positions, overlapping ones too, counted in code points. */
function stringIndices(text: string, wanted: string, run: Run): Json {
  const found: number[] = []
  if (wanted === '') return found
  let points = 0
  let counted = 0
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    // A long text that is found everywhere is compared as often.
    run.spend(1 + (wanted.length >> 8))
    for (; counted < at; counted += 1) {
      const unit = text.charCodeAt(counted)
      // The second half of a pair is no code point of its own.
      if (unit < 0xdc00 || unit > 0xdfff) points += 1
    }
    run.charge(1)
    found.push(points)
  }
  return found
}

function pick(list: Json, position: number): Json {
  if (!isArray(list)) return list === null ? null : readKey(list, position)
  return list.at(position) ?? null
}
