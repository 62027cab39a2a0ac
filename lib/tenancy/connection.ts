/** What policies read of a connection; Node's sockets, TLS or plain, are such. */
export interface Connection {
  readonly remoteAddress?: string | undefined
  readonly localAddress?: string | undefined
  /** Whether the peer's certificate was verified; absent on a plain connection. */
  readonly authorized?: boolean
  /** Server name that the client asked for. */
  readonly servername?: string | false | null
  getPeerX509Certificate?(): { readonly subjectAltName?: string | undefined } | undefined
}

/** What policies read, and change, of a request; `http.IncomingMessage` is such. */
export interface HttpRequest {
  readonly method?: string | undefined
  url?: string | undefined
  rawHeaders: string[]
  readonly headers: object
  readonly headersDistinct: object
  readonly socket: Connection
}

/** What the middleware uses of Koa's context. */
interface HttpContext {
  readonly req: HttpRequest
  url: string
  status: number
  body: unknown
  set(name: string, value: string): void
}

/** A middleware of Koa. */
export type HttpMiddleware = (context: HttpContext, next: () => Promise<unknown>) => Promise<unknown>
