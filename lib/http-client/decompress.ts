import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'

const DECODERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
} as const

const deflate = promisify(inflate)
const rawDeflate = promisify(inflateRaw)

/** Output that any input may have, whatever its ratio. */
const FREE = 1024 * 1024
const RATIO = 100

/** Why a body was not decompressed. */
export type DecompressFailure = 'too large' | 'malformed' | 'unknown encoding'

/**
 * Decompresses a body by its `Content-Encoding`: gzip, deflate, br, also several.
 *
 * Never makes more than `limit` bytes, nor more than 100 times the input beyond 1 MiB (openapi-functions.md §7).
 */
export async function decompress(body: Buffer, encodings: string, limit: number): Promise<Buffer | DecompressFailure> {
  const names = encodings.toLowerCase().split(',').map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity').reverse()
  // One layer after another could multiply the work; nobody sends three.
  if (names.length > 2) return 'unknown encoding'
  let current = body
  const allowed = Math.min(limit, Math.max(FREE, body.length * RATIO))
  for (const name of names) {
    const result = await decode(current, name, allowed)
    if (typeof result === 'string') return result
    current = result
  }
  return current
}

async function decode(body: Buffer, name: string, limit: number): Promise<Buffer | DecompressFailure> {
  const options = { maxOutputLength: limit }
  try {
    // RFC 9110 means zlib by "deflate", some servers send the bare stream; the first byte tells them apart.
    if (name === 'deflate') return await (((body[0] ?? 0) & 0x0f) === 8 ? deflate(body, options) : rawDeflate(body, options))
    const decoder = name === 'gzip' || name === 'x-gzip' || name === 'br' ? DECODERS[name] : undefined
    return decoder ? await decoder(body, options) : 'unknown encoding'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'malformed'
  }
}
