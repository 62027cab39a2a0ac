import type { Json } from '../common/index.ts'

/** What goes between the processes of a cluster, through the first of them. */
export type ClusterMessage =
  /** A worker is ready, or has to say something. */
  | { readonly cluster: 'ready'; readonly lines: readonly string[] }
  /** Workers are to stop. */
  | { readonly cluster: 'stop' }
  | { readonly cluster: 'call'; readonly from: number; readonly to: number; readonly id: number; readonly method: string; readonly args: readonly Json[] }
  | { readonly cluster: 'answer'; readonly from: number; readonly to: number; readonly id: number; readonly value?: Json | undefined; readonly error?: WireError }

/** An error as it travels. */
export interface WireError {
  readonly name: string
  readonly code: string
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** Tells whether a message of a process is one of ours: libraries may send others. */
export function isClusterMessage(message: unknown): message is ClusterMessage {
  return typeof message === 'object' && message !== null && 'cluster' in message
}
