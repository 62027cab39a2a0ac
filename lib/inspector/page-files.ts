import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

/** A file of the page, in memory. */
export interface PageFile {
  readonly type: string
  readonly body: Buffer
  /** The same, for browsers that take gzip. */
  readonly packed: Buffer
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'receiver.js': 'text/javascript; charset=utf-8',
  'receiver.html': 'text/html; charset=utf-8',
  'bridge.js': 'text/javascript; charset=utf-8',
}

/** Reads the page once; it lies beside this module, in source and in the published package. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  return new Map(Object.entries(TYPES).map(([name, type]) => {
    const body = readFileSync(new URL(`./page/${name}`, import.meta.url))
    return [name, { type, body, packed: gzipSync(body), etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }]
  }))
}
