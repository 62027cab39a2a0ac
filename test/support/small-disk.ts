import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of its own that can be filled. */
export interface SmallDisk {
  readonly directory: string
  /** Takes all room that is left. */
  fill(): void
  /** Gives that room back. */
  empty(): void
  /** Lets it be written, or not. */
  allowWriting(allowed: boolean): void
  remove(): void
}

/** Mounts a file system in memory of so many bytes; `undefined` with one loud line where that is not permitted. */
export function createSmallDisk(bytes: number): SmallDisk | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'small-disk-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${String(bytes)}`, 'tmpfs', directory], { encoding: 'utf8' })
  if (mounted.status !== 0) {
    rmSync(directory, { recursive: true })
    process.stdout.write(`SKIPPED: tests of a full disk need the right to mount a small file system (${mounted.error?.message ?? mounted.stderr.trim()})\n`)
    return undefined
  }
  const filler = join(directory, 'filler')
  return {
    directory,
    fill() {
      for (let size = 65_536; size >= 64; size /= 2) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size))
        } catch (error) {
          if ((error as { code?: string }).code !== 'ENOSPC') throw error
        }
      }
    },
    empty: () => { writeFileSync(filler, '') },
    allowWriting(allowed) {
      const { status, stderr } = spawnSync('mount', ['-o', `remount,${allowed ? 'rw' : 'ro'}`, directory], { encoding: 'utf8' })
      if (status !== 0) throw new Error(stderr)
    },
    remove() {
      spawnSync('umount', ['-l', directory])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
