import type { Json } from '../../../common/index.ts'
import { one, type Filter } from '../compile/filter.ts'
import { printNumber, toJson, toText } from '../dump.ts'
import { JqError } from '../failure.ts'
import { isArray } from '../value.ts'
import { SyntaxFault } from '../../syntax-fault.ts'
import { binary, type Builtins } from './define.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const HTML: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '\'': '&apos;', '"': '&quot;' }
const TSV: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' }

const FORMATS: Readonly<Record<string, (value: Json) => string>> = {
  text: toText,
  json: (value) => toJson(value),
  csv: (value) => row(value, 'csv', ',', (text) => `"${text.replaceAll('"', '""')}"`),
  tsv: (value) => row(value, 'tsv', '\t', (text) => text.replaceAll(/[\t\n\r\\]/g, (char) => TSV[char] ?? char)),
  html: (value) => toText(value).replaceAll(/[<>&'"]/g, (char) => HTML[char] ?? char),
  uri: (value) => uriEncode(toText(value)),
  urid: uriDecode,
  sh: shell,
  base64: (value) => Buffer.from(toText(value)).toString('base64'),
  base64d: base64Decode,
  base32: (value) => base32Encode(Buffer.from(toText(value))),
  base32d: base32Decode,
}

/** `format("name")`: the format is chosen while the program runs. */
export const FORMAT: Builtins = {
  'format/1': binary((value, name) => {
    if (typeof name !== 'string' || !Object.hasOwn(FORMATS, name)) throw new JqError('~0 is not a valid format', [name])
    return (FORMATS[name] ?? toText)(value)
  }),
}

/**
 * Finds the function behind `@name`.
 *
 * @throws {@link SyntaxFault} for an unknown name.
 */
export function formatter(name: string, offset: number): (value: Json) => string {
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined
  if (format === undefined) throw new SyntaxFault(`@${name} is not a format`, offset, `known: @${Object.keys(FORMATS).join(', @')}`)
  return format
}

/** `@name` as a filter. */
export function formatFilter(name: string, offset: number): Filter {
  const format = formatter(name, offset)
  return one((value, env) => {
    env.run.offset = offset
    const text = format(value)
    env.run.charge(text.length / 8)
    return text
  })
}

function row(value: Json, name: string, separator: string, quote: (text: string) => string): string {
  if (!isArray(value)) throw new JqError(`%0 cannot be ${name}-formatted, only array`, [value])
  return value.map((cell) => {
    if (cell === null) return ''
    if (typeof cell === 'number') return printNumber(cell)
    if (typeof cell === 'boolean') return String(cell)
    if (typeof cell === 'string') return quote(cell)
    // jq says csv for both.
    throw new JqError('%0 is not valid in a csv row', [cell])
  }).join(separator)
}

function uriEncode(text: string): string {
  let out = ''
  for (const byte of Buffer.from(text)) {
    const char = String.fromCharCode(byte)
    out += /[A-Za-z0-9\-_.~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

function uriDecode(value: Json): string {
  const text = toText(value)
  const bytes: Buffer[] = []
  for (let at = 0; at < text.length;) {
    const next = text.indexOf('%', at)
    const end = next === -1 ? text.length : next
    bytes.push(Buffer.from(text.slice(at, end)))
    at = end
    if (next === -1) break
    const digits = text.slice(next + 1, next + 3)
    if (!/^[0-9a-fA-F]{2}$/.test(digits)) throw new JqError('%0 is not a valid uri encoding', [text])
    bytes.push(Buffer.from([Number.parseInt(digits, 16)]))
    at = next + 3
  }
  return Buffer.concat(bytes).toString('utf8')
}

function shell(value: Json): string {
  return (isArray(value) ? value : [value]).map((item) => {
    if (typeof item === 'object' && item !== null) throw new JqError('%0 can not be escaped for shell', [item])
    return typeof item === 'string' ? `'${item.replaceAll('\'', '\'\\\'\'')}'` : toJson(item)
  }).join(' ')
}

function base64Decode(value: Json): string {
  const text = toText(value)
  const body = text.replace(/=+$/, '')
  const decoded = Buffer.from(body, 'base64')
  if (/[^A-Za-z0-9+/]/.test(body) || (body.length > 0 && decoded.length === 0)) throw new JqError('%0 is not valid base64 data', [text])
  return decoded.toString('utf8')
}

function base32Encode(bytes: Buffer): string {
  let out = ''
  for (let at = 0; at < bytes.length; at += 5) {
    const part = bytes.subarray(at, at + 5)
    const bits = Array.from(part, (byte) => byte.toString(2).padStart(8, '0')).join('')
    const digits = bits.match(/.{1,5}/g) ?? []
    out += digits.map((digit) => BASE32[Number.parseInt(digit.padEnd(5, '0'), 2)] ?? '').join('').padEnd(8, '=')
  }
  return out
}

function base32Decode(value: Json): string {
  const text = toText(value)
  const body = text.replace(/=+$/, '')
  if (/[^A-Z2-7]/.test(body)) throw new JqError('%0 is not valid base32 data', [text])
  const bits = Array.from(body, (char) => BASE32.indexOf(char).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString('utf8')
}
