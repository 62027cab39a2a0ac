import { readdir, readFile, realpath, stat } from 'node:fs/promises'

/** What is known of a file or directory. */
export interface FileStatus {
  readonly kind: 'file' | 'directory' | 'other'
  /** Bytes. */
  readonly size: number
}

/** Looks at a file or directory, links followed; `undefined` when it is not there or may not be seen. */
export async function statusOf(path: string): Promise<FileStatus | undefined> {
  try {
    const status = await stat(path)
    return { kind: status.isFile() ? 'file' : status.isDirectory() ? 'directory' : 'other', size: status.size }
  } catch {
    return undefined
  }
}

/** Reads a text file; rejects with the error of the system. */
export async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8')
}

/** Lists the names in a directory, sorted; none when it may not be read. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).then((names) => names.sort(), () => [])
}

/** Finds where a path leads when links are resolved; rejects with the error of the system. */
export async function realPathOf(path: string): Promise<string> {
  return realpath(path)
}
