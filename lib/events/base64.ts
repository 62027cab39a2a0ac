const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Tells whether a text is base64 of the standard alphabet with padding (RFC 4648 §4). */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text)
}

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Decodes base64 that {@link isBase64} has accepted. */
export function fromBase64(text: string): Uint8Array {
  // A view of its own: a Buffer of the pool would share memory with others.
  return Uint8Array.from(Buffer.from(text, 'base64'))
}
