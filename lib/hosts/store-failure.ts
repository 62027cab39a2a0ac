import { HostError } from '../errors/index.ts'
import type { LiveInstance } from './live-instance.ts'

/** What has gone wrong with a store, as callers are told. */
export function asStoreFailure(cause: unknown): HostError {
  if (cause instanceof HostError) return cause
  return new HostError({ code: 'STORE_UNAVAILABLE', message: `The store could not be written: ${cause instanceof Error ? cause.message : String(cause)}`, cause })
}

/** For callers of an instance that the store knows: whoever started it must not start it again. */
export function standsStill(live: LiveInstance, error: HostError): HostError {
  return toldOf(live, `Instance ${live.facts.id} has begun, and goes on by itself when the store can be written again: do not start it again`, error)
}

/** For callers of an instance whose end is committed and may not be on the disk. */
export function hasEndedUnsafely(live: LiveInstance, error: HostError): HostError {
  return toldOf(live, `Instance ${live.facts.id} has ended, and its result could not be kept: do not start it again`, error)
}

function toldOf({ facts: { id } }: LiveInstance, what: string, { message, details, cause }: HostError): HostError {
  return new HostError({ code: 'STORE_UNAVAILABLE', message: `${what}. ${message}`, details: { ...details, processInstanceId: id }, cause })
}
