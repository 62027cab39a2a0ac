import type { IncomingMessage, ServerResponse } from 'node:http'
import { createSystemClock } from '../common/index.ts'

/** How long the rest of a refused body is thrown away before the connection is cut, in milliseconds. */
const LINGER = 1000

/**
 * Ends an answer to a request whose body is not read.
 *
 * Closing a connection with unread bytes resets it, and the caller may lose the answer. So the answer is sent whole at once, and
 * the connection stays for a moment in which the rest of the body is thrown away (RFC 9112 §9.6). Networks keep real time, hence
 * the clock of the machine.
 */
export function lingerAndEnd(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const clock = createSystemClock()
  response.write(body)
  const end = (): void => {
    cancel()
    response.end()
    if (!request.complete) request.destroy()
  }
  const cancel = clock.at(clock.now() + LINGER, end)
  request.once('end', end)
  request.once('close', end)
  request.on('error', end)
  request.resume()
}
