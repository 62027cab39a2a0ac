import { watch } from 'node:fs'
import { dirname } from 'node:path'
import { stat } from 'node:fs/promises'
import type { Cancel, Clock, Logger } from '../common/index.ts'

/** What watching files needs. */
export interface WatchOptions {
  /** Files and directories; directories with everything below them. */
  readonly paths: readonly string[]
  readonly clock: Clock
  readonly log: Logger
  /** Called once the files have been still for a moment. */
  readonly changed: () => Promise<void>
}

/** Editors write in several steps; what comes within so many milliseconds is one change. */
const STILL = 100

/** Watches files and calls back after changes. */
export async function watchFiles({ paths, clock, log, changed }: WatchOptions): Promise<Cancel> {
  let cancel: Cancel = () => undefined
  const later = (): void => {
    cancel()
    cancel = clock.at(clock.now() + STILL, () => {
      changed().catch((error: unknown) => { log.error({ error }, 'files could not be loaded again') })
    })
  }
  const watchers = await Promise.all(paths.map(async (path) => {
    const isDirectory = await stat(path).then((found) => found.isDirectory(), () => false)
    // A file that is replaced is another file to the system: its directory is watched instead.
    const watcher = watch(isDirectory ? path : dirname(path), { recursive: isDirectory, persistent: false }, later)
    watcher.on('error', (error) => { log.warn({ path, error }, 'changes of files are no longer seen') })
    return watcher
  }))
  return () => {
    cancel()
    for (const watcher of watchers) watcher.close()
  }
}
