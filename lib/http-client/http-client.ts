import type { CancelSignal } from '../common/index.ts'
import type { HttpClientOptions, Redirects, Timeouts } from './options.ts'

/** Header fields of a request: pairs keep order and repeats, a record is shorter. */
type RequestHeaders = readonly (readonly [name: string, value: string])[] | Readonly<Record<string, string>>

/** One outbound HTTP request. */
export interface HttpRequest {
  readonly method: string
  /** Absolute `http:` or `https:` address, already encoded. */
  readonly url: string
  readonly headers?: RequestHeaders
  readonly body?: string | Uint8Array
  /** Aborts the call; the socket is given up. */
  readonly signal?: CancelSignal
  /** Overrides those of the client. */
  readonly timeouts?: Partial<Timeouts>
  /** Bytes after decompression; overrides that of the client. */
  readonly maxResponseSize?: number
  /** Overrides those of the client. */
  readonly redirects?: Partial<Redirects>
  /** What is called, for messages and logs: an operationId, `token request`; never an address. */
  readonly purpose?: string
  /** Names of headers that are dropped on a redirect to another origin, besides those that always are. */
  readonly credentialHeaders?: readonly string[]
}

/** The answer to a request, read to its end. */
export interface HttpResponse {
  readonly status: number
  /** The reason phrase; empty when the server sent none. */
  readonly statusMessage: string
  /** Names in lower case; repeated fields are joined with `, `. */
  readonly headers: Readonly<Record<string, string>>
  /** Decompressed. */
  readonly body: Uint8Array
}

/** Sends requests under the limits of openapi-functions.md §7. */
export interface HttpClient {
  readonly options: HttpClientOptions
  /**
   * Sends a request and reads the whole answer, whatever its status.
   *
   * @throws {@link FunctionError} `FUNCTION_TIMEOUT`, or `FUNCTION_FAILED` with the system's error as cause: connection refused,
   * name unknown, TLS, reset, too large, denied address, too many waiting. `retryable` tells whether trying again may help. The
   * message names the client and the reason, never the address.
   */
  request(request: HttpRequest): Promise<HttpResponse>
  /** Closes the pools; requests that still run fail. */
  close(): Promise<void>
}

/** The clients of a process, each with the settings of its document or scheme. */
export interface HttpClients {
  /** Gives the client of an OpenAPI document (`sonatina.rest-client.<file_key>.*`); one object for each key. */
  forDocument(fileKey: string): HttpClient
  /** Gives the client of token requests (`sonatina.oidc-client.<scheme_key>.*`). */
  forScheme(schemeKey: string): HttpClient
  /** The client of calls that belong to no document: `rest:METHOD:url`, events, remote documents. */
  readonly general: HttpClient
  close(): Promise<void>
}
