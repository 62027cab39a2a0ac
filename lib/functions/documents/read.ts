import { open } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { DefinitionError } from '../../errors/index.ts'
import { MAX_DOCUMENT_SIZE } from './parse.ts'

/** Reads a remote document as text; given by the composition, since it goes through the HTTP client. */
export type RemoteReader = (uri: string) => Promise<string>

/**
 * Reads a located document as text.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` when it is too large or not UTF-8, `DEFINITION_NOT_FOUND` when it cannot be read
 */
export async function readDocument(document: { readonly name: string; readonly uri: string }, readRemote: RemoteReader): Promise<string> {
  if (!document.uri.startsWith('file:')) {
    return readRemote(document.uri).catch((error: unknown) => { throw unreadable(document.name, error) })
  }
  const bytes = await readFileBounded(fileURLToPath(document.uri)).catch((error: unknown) => { throw unreadable(document.name, error) })
  if (bytes === undefined) {
    throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `Document "${document.name}" is larger than ${String(MAX_DOCUMENT_SIZE)} bytes` })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `Document "${document.name}" is not text in UTF-8`, cause })
  }
}

async function readFileBounded(file: string): Promise<Uint8Array | undefined> {
  const handle = await open(file, 'r')
  try {
    // The size is asked of the open file: between a look and a read it could change.
    const { size } = await handle.stat()
    return size > MAX_DOCUMENT_SIZE ? undefined : await handle.readFile()
  } finally {
    await handle.close()
  }
}

function unreadable(name: string, cause: unknown): DefinitionError {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
  return new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `Document "${name}" cannot be read${code}`, cause })
}
