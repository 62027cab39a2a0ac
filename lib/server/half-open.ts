import type { Server } from 'node:http'

/**
 * Lets a server answer callers that have closed their side after the request (RFC 9112 §9.6): Node.js closes the other side as well, with
 * the answer still to come.
 *
 * A server of `node:https` needs the option `allowHalfOpen` besides. Who leaves is noticed when something is written to it, and not before.
 */
export function answerAfterEnd<Any extends Server>(server: Any): Any {
  // The types of Node.js do not know it.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true
  return server
}
