import { createHash } from 'node:crypto'
import { bundleDocument } from '../documents/bundle.ts'
import { locateDocument, type DocumentScope, type LocatedDocument } from '../documents/locate.ts'
import type { RemoteReader } from '../documents/read.ts'
import type { ResolvedDocument } from './resolved-document.ts'
import { resolveDocument } from './resolve.ts'

/** OpenAPI documents that definitions refer to, each resolved once. */
export interface OpenApiLibrary {
  /**
   * Gives a document with references resolved, and where it was found. It is read each time, so that a changed file is seen, and
   * resolved again only when its text or that of a document it refers to has changed. `readRemote` reads those at http addresses.
   *
   * @throws {@link DefinitionError} when it does not exist, cannot be read, or a reference does not resolve
   */
  load(name: string, scope: DocumentScope, readRemote: RemoteReader): Promise<{ readonly located: LocatedDocument; readonly resolved: ResolvedDocument }>
}

// A project has a handful; this bounds what a long `dev` session keeps of older texts.
const MAX_RESOLVED = 128

/** Creates an empty library. */
export function createOpenApiLibrary(): OpenApiLibrary {
  const resolved = new Map<string, Promise<ResolvedDocument>>()
  return {
    async load(name, scope, readRemote) {
      const located = await locateDocument(name, scope)
      const bundle = await bundleDocument(located, scope, readRemote)
      const digest = createHash('sha256').update(name)
      for (const [uri, text] of bundle.texts) digest.update('\0').update(uri).update('\0').update(text)
      const key = digest.digest('hex')
      let pending = resolved.get(key)
      if (pending === undefined) {
        pending = resolveDocument(bundle)
        const [oldest] = resolved.keys()
        if (resolved.size >= MAX_RESOLVED && oldest !== undefined) resolved.delete(oldest)
        resolved.set(key, pending)
      }
      return { located, resolved: await pending }
    },
  }
}
