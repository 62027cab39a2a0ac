import type { FunctionSource } from '../compile-options.ts'
import type { CallContext, FunctionResult } from '../invoker.ts'
import { callRemote, type RemoteCall } from '../remote/call.ts'
import type { RemoteParts } from './parts.ts'
import { timeoutOf } from './rest-call.ts'
import { credentialsOf } from './static-credentials.ts'

/** What differs between the calls of a function. */
type CallParts = Omit<RemoteCall, 'callee' | 'authorization' | 'timeout' | 'context' | 'client'> & Partial<Pick<RemoteCall, 'client'>>

/**
 * Makes what calls the service of a function that has no document to state its security: its name, credentials and time limit are
 * settled when it is compiled; without a client of its own it is called by the general one.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for credentials that cannot be sent
 */
export function createCaller(source: FunctionSource, parts: RemoteParts): (context: CallContext, call: CallParts) => Promise<FunctionResult> {
  const callee = source.definition.name
  const authorization = credentialsOf(source, parts)
  const timeout = timeoutOf(source)
  return (context, call) => callRemote({ client: parts.httpClients.general, ...call, callee, authorization, timeout, context }, parts.remote)
}
