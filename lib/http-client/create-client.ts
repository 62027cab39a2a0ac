import { createSystemClock, silentLogger, type Clock, type Logger } from '../common/index.ts'
import { decompress } from './decompress.ts'
import { Exchange, type RawResponse } from './exchange.ts'
import { refusal, systemCode, toFunctionError } from './failure.ts'
import type { HttpClient, HttpRequest, HttpResponse } from './http-client.ts'
import type { HttpClientOptions, Redirects, Timeouts } from './options.ts'
import { Pools, DEFAULT_CONNECT_TIMEOUT, type OriginPool } from './pools.ts'
import { followRedirect, isPairs, isRedirect } from './redirect.ts'
import { isIdempotent, withResilience, type Send } from './resilience.ts'
import { createTargets, DEFAULT_DENIED, DENIED, DENIED_CODE } from './targets.ts'
import { loadTls } from './tls.ts'
import { safeUrl, traceExchange } from './trace.ts'

const DEFAULT_TIMEOUTS: Timeouts = { connect: DEFAULT_CONNECT_TIMEOUT, read: 30_000, total: 120_000 }
const DEFAULT_REDIRECTS: Redirects = { follow: false, max: 5, otherOrigins: false }
const DEFAULT_RESPONSE_SIZE = 10 * 1024 * 1024

/**
 * Creates a client over undici pools, one for each origin (openapi-functions.md §7).
 *
 * @throws {@link ConfigurationError} when a store, a proxy or a network cannot be used.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new PooledClient(options)
}

class PooledClient implements HttpClient {
  readonly options: HttpClientOptions
  readonly #pools: Pools
  readonly #clock: Clock
  readonly #log: Logger
  readonly #timeouts: Timeouts
  readonly #redirects: Redirects
  readonly #maxResponseSize: number
  readonly #retryOnConnect: number
  readonly #fixedHeaders: readonly (readonly [string, string])[]
  readonly #send: Send

  constructor(options: HttpClientOptions) {
    this.options = options
    this.#clock = options.clock ?? createSystemClock()
    this.#log = options.log ?? silentLogger
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts }
    this.#redirects = { ...DEFAULT_REDIRECTS, ...options.redirects }
    this.#maxResponseSize = options.maxResponseSize ?? DEFAULT_RESPONSE_SIZE
    this.#retryOnConnect = options.retryOnConnect ?? 1
    this.#fixedHeaders = Object.entries({ 'User-Agent': options.userAgent ?? 'sonatina', ...options.headers })
    const targets = createTargets({
      denyAddresses: options.denyAddresses ?? DEFAULT_DENIED,
      ...(options.allowAddress === undefined ? {} : { allowAddress: options.allowAddress }),
      ...(options.allowTargets === undefined ? {} : { allowTargets: options.allowTargets }),
    })
    this.#pools = new Pools(options, targets, loadTls(options.name, options.tls))
    this.#send = withResilience(options.name, (request) => this.#exchange(request, this.#clock.now() + (request.timeouts?.total ?? this.#timeouts.total)), options.resilience)
  }

  request(request: HttpRequest): Promise<HttpResponse> {
    return this.#send(request)
  }

  close(): Promise<void> {
    return this.#pools.close()
  }

  async #exchange(request: HttpRequest, deadline: number, redirected = 0): Promise<HttpResponse> {
    const started = this.#clock.now()
    const headers = this.#headers(request)
    let response: HttpResponse
    try {
      const raw = await this.#attempt(request, headers, deadline)
      const encodings = raw.headers['content-encoding']
      const body = encodings === undefined || raw.body.length === 0 ? raw.body : await this.#decode(raw.body, String(encodings), request)
      response = toResponse(raw, body)
      if (this.options.trace === true) this.#trace(request, headers, response, this.#clock.now() - started)
    } catch (error) {
      const code = systemCode(error)
      const failure = code === DENIED_CODE ? refusal(this.options.name, request.purpose, DENIED) : toFunctionError(this.options.name, request.purpose, error)
      this.#log.warn({ client: this.options.name, purpose: request.purpose, method: request.method, url: safeUrl(request.url), code, reason: failure.message }, 'A remote call failed')
      throw failure
    }
    return isRedirect(response.status, response.headers) ? this.#redirect(request, response, deadline, redirected) : response
  }

  #redirect(request: HttpRequest, response: HttpResponse, deadline: number, redirected: number): HttpResponse | Promise<HttpResponse> {
    const redirects = { ...this.#redirects, ...request.redirects }
    if (!redirects.follow) return response
    if (redirected === redirects.max) throw refusal(this.options.name, request.purpose, `more than ${redirects.max} redirects`)
    const next = followRedirect(request, response.status, response.headers['location'] ?? '', redirects)
    if (!('refused' in next)) return this.#exchange(next, deadline, redirected + 1)
    this.#log.warn({ client: this.options.name, purpose: request.purpose, status: response.status }, `${next.refused}; it is not followed`)
    return response
  }

  #attempt(request: HttpRequest, headers: readonly string[], deadline: number): Promise<RawResponse> {
    const { origin, path } = splitUrl(request.url)
    const pool = this.#pools.get(origin, request.purpose)
    const send = (connects: number, repeats: number): Promise<RawResponse> => {
      const { exchange, response } = this.#dispatch(pool, path, request, headers, deadline)
      return response.catch((error: unknown) => {
        if (request.signal?.aborted === true || this.#clock.now() >= deadline) throw error
        const mayRepeat = exchange.sent
          ? !exchange.answered && repeats === 0 && isIdempotent(request.method) && isStaleSocket(error)
          : connects < this.#retryOnConnect && isConnectFailure(error)
        if (!mayRepeat) throw error
        this.#log.debug({ client: this.options.name, purpose: request.purpose, code: systemCode(error) }, 'No byte came back; the call is repeated')
        return exchange.sent ? send(connects, repeats + 1) : send(connects + 1, repeats)
      })
    }
    return send(0, 0)
  }

  #dispatch(pool: OriginPool, path: string, request: HttpRequest, headers: readonly string[], deadline: number): { exchange: Exchange; response: Promise<RawResponse> } {
    const client = this.options.name
    if (request.signal?.aborted === true) throw toFunctionError(client, request.purpose, Object.assign(new Error('cancelled', { cause: request.signal.reason }), { code: 'ABORT_ERR' }))
    if (pool.active >= pool.capacity) throw refusal(client, request.purpose, 'too many calls wait for a connection', true)
    let exchange!: Exchange
    const response = new Promise<RawResponse>((resolve, reject) => {
      exchange = new Exchange({
        client,
        purpose: request.purpose,
        clock: this.#clock,
        readTimeout: request.timeouts?.read ?? this.#timeouts.read,
        deadline,
        maxResponseSize: request.maxResponseSize ?? this.#maxResponseSize,
        signal: request.signal,
        pool,
      }, resolve, reject)
    })
    const body = request.body === undefined || request.body === '' ? null : request.body
    pool.dispatcher.dispatch({ origin: pool.origin, path, method: request.method, headers: headers as string[], body }, exchange)
    return { exchange, response }
  }

  async #decode(body: Buffer, encodings: string, request: HttpRequest): Promise<Uint8Array> {
    const result = await decompress(body, encodings, request.maxResponseSize ?? this.#maxResponseSize)
    if (typeof result !== 'string') return result
    const what = result === 'too large'
      ? 'the answer grows too large when it is decompressed'
      : result === 'malformed' ? 'the answer cannot be decompressed' : 'the answer has an unknown content encoding'
    throw refusal(this.options.name, request.purpose, what)
  }

  // Flat names and values, as undici takes them; those of the request beat the fixed ones.
  #headers(request: HttpRequest): readonly string[] {
    const flat: string[] = []
    const given = request.headers
    if (given === undefined) {
      for (const [name, value] of this.#fixedHeaders) flat.push(name, value)
      return flat
    }
    if (isPairs(given)) for (const [name, value] of given) flat.push(name, value)
    else for (const name in given) flat.push(name, given[name] ?? '')
    const length = flat.length
    for (const [name, value] of this.#fixedHeaders) if (!hasName(flat, length, name)) flat.push(name, value)
    return flat
  }

  #trace(request: HttpRequest, headers: readonly string[], response: HttpResponse, milliseconds: number): void {
    const pairs: Record<string, string> = {}
    for (let index = 0; index < headers.length; index += 2) pairs[headers[index] ?? ''] = headers[index + 1] ?? ''
    traceExchange(this.#log, { client: this.options.name, request, headers: pairs, response, milliseconds, bodies: this.options.traceBodies ?? true })
  }
}

function hasName(flat: readonly string[], length: number, name: string): boolean {
  for (let index = 0; index < length; index += 2) {
    const candidate = flat[index] ?? ''
    if (candidate.length === name.length && candidate.toLowerCase() === name.toLowerCase()) return true
  }
  return false
}

// `new URL` costs more than the rest of the client, and origins repeat: the pool checks each origin once.
function splitUrl(url: string): { origin: string; path: string } {
  const start = url.indexOf('://') + 3
  const end = url.slice(start).search(/[/?#]/)
  if (start < 3 || end < 0) return { origin: url, path: '/' }
  const cut = start + end
  const fragment = url.indexOf('#', cut)
  const path = fragment < 0 ? url.slice(cut) : url.slice(cut, fragment)
  return { origin: url.slice(0, cut), path: path.startsWith('/') ? path : `/${path}` }
}

function toResponse(raw: RawResponse, body: Uint8Array): HttpResponse {
  const headers = raw.headers as Record<string, string>
  for (const name in raw.headers) {
    const value = raw.headers[name]
    if (Array.isArray(value)) headers[name] = value.join(', ')
  }
  return { status: raw.status, statusMessage: raw.statusMessage, headers, body }
}

const CONNECT_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_SOCKET'])
const STALE_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

function isConnectFailure(error: unknown): boolean {
  return CONNECT_CODES.has(systemCode(error) ?? '')
}

function isStaleSocket(error: unknown): boolean {
  return STALE_CODES.has(systemCode(error) ?? '')
}

