import { createRequire } from 'node:module'
import type { Database } from 'libsql'
import { HostError } from '../../errors/index.ts'

type DatabaseConstructor = new (path: string, options?: { readonly?: boolean; timeout?: number }) => Database

let loaded: DatabaseConstructor | undefined

/**
 * Loads the database library when it is first needed.
 *
 * @throws {@link HostError} `STORE_UNAVAILABLE` where there is no binary of it for this platform
 */
export function loadLibrary(): DatabaseConstructor {
  if (loaded !== undefined) return loaded
  try {
    loaded = createRequire(import.meta.url)('libsql') as DatabaseConstructor
    return loaded
  } catch (cause) {
    throw new HostError({
      code: 'STORE_UNAVAILABLE',
      message: `The embedded store needs the package "libsql" with its binary for ${process.platform}-${process.arch}, which is not installed; ` +
        'install with optional dependencies, or set sonatina.store=memory',
      cause,
    })
  }
}

/** Whether the database library can be loaded here. */
export function hasLibrary(): boolean {
  try {
    loadLibrary()
    return true
  } catch {
    // The caller says what follows from it.
    return false
  }
}
