import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import type Koa from 'koa'
import type { Clock, IdSource, Logger, Logging } from '../common/index.ts'
import type { Catalogue } from '../definition/index.ts'
import type { Host } from '../hosts/index.ts'
import type { ServerMetrics } from './metrics.ts'
import type { ServerSettings } from './settings.ts'

/** What is known of a request before its body is read. */
export interface InboundRequest {
  readonly method: string
  /** Path without query, as sent. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The connection, for client certificates. */
  readonly socket: IncomingMessage['socket']
}

/** Who calls, once authenticated. */
interface CallerIdentity {
  readonly name: string
  readonly roles: readonly string[]
}

/**
 * Decides about a request before its body is read (http-contract.md §7).
 *
 * @returns the caller, or `undefined` when the address needs none
 * @throws {@link RequestError} `UNAUTHENTICATED` (with `details.challenge` for `WWW-Authenticate`) or `FORBIDDEN`
 */
export type Authenticate = (request: InboundRequest) => CallerIdentity | undefined | Promise<CallerIdentity | undefined>

/** A part of the service that answers addresses of its own. */
export interface Mount {
  /** `/` for every request, else a prefix below the root path; the middleware sees the whole path. */
  readonly path: string
  /** `first`: before everything else, authentication included (tenancy). @default 'address' */
  readonly stage?: 'first' | 'address'
  readonly middleware?: Koa.Middleware
  /** Takes over a connection that asks for another protocol below the path (WebSocket). */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

/** Options of {@link createServer}. */
export interface ServerOptions {
  readonly host: Host
  readonly catalogue: Catalogue
  readonly settings: ServerSettings
  readonly log: Logger
  readonly clock: Clock
  readonly ids: IdSource
  /** Name and version that the OpenAPI document and the metrics carry. @default `sonatina`, `0` */
  readonly application?: { readonly name: string; readonly version: string }
  readonly authenticate?: Authenticate
  readonly mounts?: readonly Mount[]
  /** Directories that URIs of sources are told relative to. @default none: names of files only */
  readonly sourceRoots?: readonly string[]
  /** Shared with whoever feeds it; made by the server when absent. */
  readonly metrics?: ServerMetrics
  /** Levels that can be read and changed under `/management/log-levels`. */
  readonly logLevels?: Pick<Logging, 'levels' | 'setLevel'>
  /** Takes an uploaded definition into service; without it, and without the setting, there is no such address. */
  readonly deploy?: (source: { readonly uri: string; readonly text: string }) => Promise<void>
}

/** Where a server can be reached. */
export interface Listening {
  /** Address without trailing slash, root path included. */
  readonly url: string
  /** Address of the management listener, when it is another one. */
  readonly managementUrl?: string
}

/** The HTTP server of workflows. */
export interface Server {
  readonly app: Koa
  readonly metrics: ServerMetrics
  /** Handles a request without listening, for embedding in another server. */
  callback(): RequestListener
  /**
   * Opens the listeners. Port 0 takes a free one.
   *
   * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when an address is taken or not ours
   */
  listen(address?: { readonly host?: string; readonly port?: number }): Promise<Listening>
  /** Turns readiness down, lets accepted requests finish within so many milliseconds, then closes every connection. */
  close(graceMilliseconds?: number): Promise<void>
}
