import { MessageChannel } from 'node:worker_threads'

/**
 * Keeps the process alive, for work that waits for nothing but timers of the clock: they do not.
 *
 * @returns ends it; calling it twice does nothing
 */
export function keepAlive(): () => void {
  const { port1: handle } = new MessageChannel()
  handle.ref()
  return () => { handle.close() }
}
