import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Opens a contender's server on a free port of the loopback address and tells the bench where it is. */
export function ready(server: Server): void {
  server.listen(0, '127.0.0.1', () => { process.send?.({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` }) })
}
