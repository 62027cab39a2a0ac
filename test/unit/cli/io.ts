import type { CommandIo } from '../../../lib/cli/io.ts'

/** A terminal that keeps what is written. */
export interface FakeIo extends CommandIo {
  readonly outText: () => string
  readonly errText: () => string
  /** Asks the command to stop. */
  stop(signal?: string): void
}

/** Creates a terminal for tests. */
export function createFakeIo(cwd: string, input = ''): FakeIo {
  const out: string[] = []
  const err: string[] = []
  let stop = (_signal: string): void => undefined
  const stopped = new Promise<string>((resolve) => { stop = resolve })
  return {
    cwd,
    out: (line) => { out.push(line) },
    err: (line) => { err.push(line) },
    read: () => Promise.resolve(input),
    stopped: () => stopped,
    outText: () => out.join('\n'),
    errText: () => err.join('\n'),
    stop: (signal = 'SIGTERM') => { stop(signal) },
  }
}
