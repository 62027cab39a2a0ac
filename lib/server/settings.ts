/** Cross-origin access (`sonatina.http.cors.*`). */
export interface CorsSettings {
  readonly origins: readonly string[]
  /** Origins that one of these matches as a whole are allowed too. */
  readonly patterns: readonly RegExp[]
  readonly methods: readonly string[]
  readonly headers: readonly string[]
  readonly exposedHeaders: readonly string[]
  /** Seconds. */
  readonly maxAge?: number
  readonly credentials: boolean
}

/** Certificates of the listener (`sonatina.http.ssl.*`), as PEM text. */
export interface TlsSettings {
  readonly certificates: readonly string[]
  readonly keys: readonly string[]
  readonly authorities?: string
  readonly clientAuth: 'none' | 'request' | 'required'
}

/** Settings of the HTTP server, resolved: configuration.md §6, http-contract.md §8. Durations in milliseconds, sizes in bytes. */
export interface ServerSettings {
  readonly host: string
  readonly port: number
  /** Empty, or begins with a slash and does not end in one. */
  readonly rootPath: string
  /** Address of the service as callers see it, without trailing slash. */
  readonly serviceUrl?: string
  /** Whether `Forwarded` and `X-Forwarded-*` are believed. */
  readonly forwarding: boolean
  readonly maxBodySize: number
  readonly maxDepth: number
  readonly maxHeaderSize: number
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly idleTimeout: number
  readonly answerTimeout?: number
  /** Longest list of instances. */
  readonly instancesLimit: number
  /** Requests at a time, whatever they ask for. */
  readonly maxConcurrent?: number
  /** Requests per second and client address; `burst` at once. */
  readonly rate?: { readonly perSecond: number; readonly burst: number }
  readonly management: boolean
  /** Port of a listener of its own for `/management`, `/inspect` and `/q`. */
  readonly managementPort?: number
  readonly swaggerUi: boolean
  readonly metrics: boolean
  /** Whether `POST /<id>/definition` takes definitions. */
  readonly upload: boolean
  /** Whether every request is logged. */
  readonly accessLog: boolean
  /** Whether a broken definition makes the service unready. */
  readonly strict: boolean
  readonly cors?: CorsSettings
  readonly tls?: TlsSettings
  /** Paths that receive events, by channel; a channel carries the events of its name. */
  readonly eventPaths: Readonly<Record<string, string>>
  /** Inbound events may have an empty `source`, as SonataFlow's users send them. */
  readonly anonymousSources: boolean
  /** How long the service still listens after readiness went down. */
  readonly shutdownDelay: number
}

/** Defaults of {@link ServerSettings}. */
export const DEFAULT_SERVER_SETTINGS: ServerSettings = {
  host: '127.0.0.1',
  port: 8080,
  rootPath: '',
  forwarding: false,
  maxBodySize: 10 * 1024 * 1024,
  maxDepth: 1000,
  maxHeaderSize: 20 * 1024,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  idleTimeout: 60_000,
  instancesLimit: 1000,
  management: true,
  swaggerUi: false,
  metrics: true,
  upload: false,
  accessLog: false,
  strict: false,
  eventPaths: {},
  anonymousSources: false,
  shutdownDelay: 0,
}
