import type * as Restate from '@restatedev/restate-sdk'
import { HostError } from '../../errors/index.ts'

/** The engine's SDK, as it is loaded. */
export type Sdk = typeof Restate

/** What handlers of objects and services get; the state of theirs, and the way to others. */
export type { Context, ObjectContext, ObjectSharedContext } from '@restatedev/restate-sdk'

/** A service or object as the endpoint takes it. */
export type Bound = Parameters<Sdk['createEndpointHandler']>[0]['services'][number]

/** Gives values as JSON. */
export function jsonOf<Value>({ serde }: Sdk): Restate.Serde<Value> {
  return serde.json as Restate.Serde<Value>
}

/**
 * Loads the SDK of the engine when it is first needed.
 *
 * @throws {@link HostError} `STORE_UNAVAILABLE` where the optional package is not installed
 */
export async function loadSdk(): Promise<Sdk> {
  addWithResolvers()
  try {
    return await import('@restatedev/restate-sdk')
  } catch (cause) {
    throw new HostError({
      code: 'STORE_UNAVAILABLE',
      message: 'sonatina.store=restate needs the package "@restatedev/restate-sdk", which is not installed; install it (it is an optional dependency), or choose another store',
      cause,
    })
  }
}

/** Node 20 has no `Promise.withResolvers`; without it every call of the SDK hangs. */
function addWithResolvers(): void {
  const promises = Promise as typeof Promise & { withResolvers?: unknown }
  promises.withResolvers ??= function withResolvers<Value>() {
    let resolve!: (value: Value | PromiseLike<Value>) => void
    let reject!: (reason?: unknown) => void
    const promise = new Promise<Value>((fulfil, refuse) => {
      resolve = fulfil
      reject = refuse
    })
    return { promise, resolve, reject }
  }
}
