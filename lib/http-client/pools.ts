import { createRequire } from 'node:module'
import type * as Undici from 'undici'
import type { buildConnector, Dispatcher } from 'undici'
import type { ConnectionOptions } from 'node:tls'
import { ConfigurationError } from '../errors/index.ts'
import { refusal } from './failure.ts'
import type { HttpClientOptions, ProxyOptions } from './options.ts'
import type { Targets } from './targets.ts'

// Read for the first connection: not every service calls others.
let library: typeof Undici | undefined
const undici = (): typeof Undici => library ??= createRequire(import.meta.url)('undici') as typeof Undici

/** Reads the library of connections before the first request needs it. */
export function prepareConnections(): void {
  undici()
}

/** The connections to one origin. */
export interface OriginPool {
  readonly origin: string
  readonly dispatcher: Dispatcher
  /** Requests that undici holds: running and waiting. */
  active: number
  readonly capacity: number
}

const MAX_HEADER_SIZE = 32 * 1024
const DEFAULT_CONNECTIONS = 64
const DEFAULT_WAITING = 1024

/** Makes the pools of a client, one for each origin, on first use. */
export class Pools {
  readonly #pools = new Map<string, OriginPool>()
  readonly #options: HttpClientOptions
  readonly #targets: Targets
  readonly #tls: ConnectionOptions

  constructor(options: HttpClientOptions, targets: Targets, tls: ConnectionOptions) {
    this.#options = options
    this.#targets = targets
    this.#tls = tls
  }

  /**
   * Gives the pool of an origin as it stands in an address (`https://host:port`).
   *
   * @throws {@link FunctionError} `FUNCTION_FAILED` when the origin may not be called.
   */
  get(origin: string, purpose: string | undefined): OriginPool {
    return this.#pools.get(origin) ?? this.#create(origin, purpose)
  }

  /** Closes all pools; requests that still run fail: whoever made them has had the time that a stop gives. */
  async close(): Promise<void> {
    const pools = new Set([...this.#pools.values()].map(({ dispatcher }) => dispatcher))
    this.#pools.clear()
    await Promise.all([...pools].map((pool) => pool.destroy()))
  }

  #create(origin: string, purpose: string | undefined): OriginPool {
    const url = URL.canParse(origin) ? new URL(origin) : undefined
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '') {
      throw refusal(this.#options.name, purpose, 'its address is not an http or https address without user and password')
    }
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
    const refused = this.#targets.refuse(url.hostname, port)
    if (refused !== undefined) throw refusal(this.#options.name, purpose, refused)
    let pool = this.#pools.get(url.origin)
    if (!pool) {
      const { connections = DEFAULT_CONNECTIONS, maxWaiting = DEFAULT_WAITING } = this.#options
      pool = { origin: url.origin, dispatcher: this.#connect(url, connections), active: 0, capacity: connections + maxWaiting }
      this.#pools.set(url.origin, pool)
    }
    this.#pools.set(origin, pool)
    return pool
  }

  #connect(url: URL, connections: number): Dispatcher {
    const { connectionTtl, keepAlive = true, proxies, timeouts } = this.#options
    const proxy = url.protocol === 'https:' ? proxies?.https : proxies?.http
    const timeout = timeouts?.connect ?? DEFAULT_CONNECT_TIMEOUT
    const common = {
      connections,
      maxHeaderSize: MAX_HEADER_SIZE,
      // The exchange watches time itself, on the injected clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: keepAlive ? 1 : 0,
      ...(connectionTtl === undefined ? {} : { clientTtl: connectionTtl }),
    }
    if (proxy && !bypasses(proxy, url.hostname)) {
      const address = proxyAddress(this.#options.name, proxy)
      return new (undici().ProxyAgent)({
        ...common,
        uri: address,
        proxyTunnel: url.protocol === 'https:',
        requestTls: { ...this.#tls, timeout } as buildConnector.BuildOptions,
        proxyTls: { timeout },
        ...(proxy.user === undefined ? {} : { token: `Basic ${Buffer.from(`${proxy.user}:${proxy.password?.reveal() ?? ''}`).toString('base64')}` }),
      })
    }
    return new (undici().Pool)(url.origin, { ...common, connect: undici().buildConnector({ ...this.#tls, lookup: this.#targets.lookup, timeout } as buildConnector.BuildOptions) })
  }
}

/** Milliseconds. */
export const DEFAULT_CONNECT_TIMEOUT = 15_000

function bypasses(proxy: ProxyOptions, hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  return proxy.except.some((pattern) => {
    const name = pattern.trim().toLowerCase().replace(/:\d+$/, '')
    if (name === '*') return true
    // NO_PROXY writes a domain and its hosts with or without a leading dot.
    if (name.startsWith('.')) return host === name.slice(1) || host.endsWith(name)
    return new RegExp(`^${name.split('*').map((part) => part.replace(/[.\\+?()[\]{}|^$]/g, '\\$&')).join('.*')}$`).test(host)
  })
}

function proxyAddress(client: string, proxy: ProxyOptions): string {
  const text = /^https?:\/\//i.test(proxy.address) ? proxy.address : `http://${proxy.address}`
  if (URL.canParse(text)) {
    const url = new URL(text)
    if (url.username === '' && url.password === '') return url.origin
  }
  throw new ConfigurationError({
    code: 'CONFIGURATION_INVALID',
    message: `The proxy of "${client}" is not host:port; give user and password as proxy-user and proxy-password`,
  })
}
