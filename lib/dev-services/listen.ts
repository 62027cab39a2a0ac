import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HostError } from '../errors/index.ts'

/** A server that listens. */
export interface Listening {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  readonly url: string
  /** Ends connections and frees the port. */
  close(): Promise<void>
}

/** Listens on loopback; port 0 takes a free one. @throws {@link HostError} `HOST_CLOSED` when the port is taken. */
export function listen(handler: RequestListener, port: number): Promise<Listening> {
  const server = createServer(handler)
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(new HostError({ code: 'HOST_CLOSED', message: `A dev service cannot listen on port ${port} (${cause.code ?? 'unknown reason'}); set another port or turn dev services off with sonatina.dev-services.enabled=false`, cause }))
    })
    server.listen(port, '127.0.0.1', () => {
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () => new Promise((done) => {
          server.close(() => { done() })
          server.closeAllConnections()
        }),
      })
    })
  })
}
