import type { Clock, Logger } from '../common/index.ts'
import type { Secret } from '../configuration/index.ts'

/** Milliseconds. */
export interface Timeouts {
  /** To connect, TLS included. @default 15000 */
  readonly connect: number
  /** Longest silence of the server. @default 30000 */
  readonly read: number
  /** The whole call. @default 120000 */
  readonly total: number
}

/** Whether and how far 3xx answers are followed. */
export interface Redirects {
  /** @default false */
  readonly follow: boolean
  /** @default 5 */
  readonly max: number
  /** Whether another origin may be visited; credentials are dropped then. @default false */
  readonly otherOrigins: boolean
}

/** A proxy: CONNECT for https, plain forwarding for http. */
export interface ProxyOptions {
  /** `host:port` or an address. */
  readonly address: string
  readonly user?: string
  readonly password?: Secret
  /** Hosts reached directly; `*` matches any part. */
  readonly except: readonly string[]
}

/** The proxies for each scheme. */
export interface Proxies {
  readonly http?: ProxyOptions
  readonly https?: ProxyOptions
}

/** A file of certificates or keys. */
export interface StoreOptions {
  readonly file: string
  readonly password?: Secret
  /** @default by content */
  readonly type?: 'PEM' | 'PKCS12'
}

/** How the server proves who it is, and we do. */
export interface TlsOptions {
  readonly trustStore?: StoreOptions
  readonly keyStore?: StoreOptions
  /** Whether the certificate must name the host. @default true */
  readonly verifyHost: boolean
  /** Whether the certificate must be trusted at all. @default true */
  readonly verifyCertificate: boolean
}

/** Resilience of a client, all off by default (decisions.md 12). */
export interface ResilienceOptions {
  readonly retries: number
  readonly retryDelay: number
  readonly maxRetryDelay: number
  /** Failures in a row that open the circuit; 0 = off. */
  readonly breakerFailures: number
  readonly breakerDelay: number
  /** Calls at a time; 0 = off. */
  readonly maxConcurrent: number
  readonly maxWaiting: number
}

/** What a client is made from; everything but `name` has a default. */
export interface HttpClientOptions {
  /** For messages and logs: the key of a document or scheme. */
  readonly name: string
  readonly timeouts?: Partial<Timeouts>
  readonly redirects?: Partial<Redirects>
  /** Fixed headers, weaker than those of a request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly userAgent?: string
  /** By the scheme of the address that is called. */
  readonly proxies?: Proxies
  readonly tls?: Partial<TlsOptions>
  /** Connections of one origin. @default 64 */
  readonly connections?: number
  /** Requests of one origin that may wait for a connection. @default 1024 */
  readonly maxWaiting?: number
  /** Milliseconds that one connection is used at most. */
  readonly connectionTtl?: number
  /** @default true */
  readonly keepAlive?: boolean
  /** Bytes after decompression. @default 10 MiB */
  readonly maxResponseSize?: number
  /** Extra attempts when no byte was sent. @default 1 */
  readonly retryOnConnect?: number
  readonly resilience?: Partial<ResilienceOptions>
  /** Networks (CIDR) that are never called. @default 169.254.0.0/16, fe80::/10 */
  readonly denyAddresses?: readonly string[]
  /** A literal address that may be called although its network is denied: the configured root. */
  readonly allowAddress?: string
  /** Hosts that may be called (`host`, `host:port`, `*.domain`). @default all */
  readonly allowTargets?: readonly string[]
  /** Whether requests and answers are logged at DEBUG, redacted. @default false */
  readonly trace?: boolean
  /** Whether the trace shows bodies; never where they hold tokens. @default true */
  readonly traceBodies?: boolean
  readonly clock?: Clock
  readonly log?: Logger
}
