import type { Json } from '../../common/index.ts'

/** Calls between the processes of a cluster on one machine. */
export interface ClusterLink {
  /** Number of this process, from 0. */
  readonly slot: number
  /** How many there are. */
  readonly count: number
  /**
   * Asks another process; arguments and answers travel as JSON.
   *
   * @throws {@link HostError} `HOST_BUSY` while that process is not there; else the error that it answers with
   */
  call(slot: number, method: string, args: readonly Json[]): Promise<Json | undefined>
  /** Answers what other processes ask. */
  serve(answer: (method: string, args: readonly Json[]) => Promise<Json | undefined>): void
}

/**
 * Tells which process a text belongs to: an instance by its id, a definition by its own.
 *
 * FNV-1a, 32 bits: even, and the same in every process.
 */
export function ownerOf(text: string, count: number): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0) % count
}
