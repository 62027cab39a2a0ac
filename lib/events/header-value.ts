import { decodeUtf8 } from './json-bytes.ts'

const PLAIN = /^[\u0021\u0023\u0024\u0026-\u007e]*$/
const TO_ENCODE = /[^\u0021\u0023\u0024\u0026-\u007e]+/gu

/**
 * Encodes an attribute value for a header: blanks, quotes, `%` and everything outside printable ASCII as percent-encoded UTF-8
 * (CloudEvents HTTP binding §3.1.3.2).
 */
export function encodeHeaderValue(value: string): string {
  return PLAIN.test(value) ? value : value.replace(TO_ENCODE, (part) => encodeURIComponent(part).replaceAll(/[!'()*]/g, escapeByte))
}

/**
 * Decodes a header value into the attribute value (CloudEvents HTTP binding §3.1.3.2).
 *
 * A `%` that starts no escape stays as it is. Raw bytes above ASCII, which Node.js hands over as Latin-1, are read as UTF-8.
 *
 * @returns `undefined` when the bytes are not UTF-8
 */
export function decodeHeaderValue(value: string): string | undefined {
  const bare = value.startsWith('"') && value.endsWith('"') && value.length > 1 ? unquote(value) : value
  if (PLAIN.test(bare)) return bare
  const bytes = Buffer.from(bare, 'latin1')
  if (!bare.includes('%')) return decodeUtf8(bytes)
  let length = 0
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0
    const escaped = byte === PERCENT ? hexPair(bytes[index + 1], bytes[index + 2]) : -1
    if (escaped >= 0) index += 2
    bytes[length++] = escaped >= 0 ? escaped : byte
  }
  return decodeUtf8(bytes.subarray(0, length))
}

const PERCENT = 0x25

function unquote(value: string): string {
  return value.slice(1, -1).replaceAll(/\\(.)/g, '$1')
}

function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

function hexPair(high: number | undefined, low: number | undefined): number {
  const left = hexDigit(high)
  const right = hexDigit(low)
  return left < 0 || right < 0 ? -1 : left * 16 + right
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  // Bit 5 turns A–F into a–f.
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
