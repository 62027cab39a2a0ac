import { atPointer, getOwn, toPointer, type JsonObject } from '../common/index.ts'
import { parseAddress, type Address } from './ip.ts'
import { parseIdentity, type Identity } from './identity.ts'
import { normalisePath } from './path.ts'

/** Where a call arrives: a workload and the port of its pod. */
export interface Destination {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  /** Port at the pod, not at the service. */
  readonly port: number
  readonly ip?: string
}

/** One call, as the proxy of the destination sees it (tenancy.md, section 4). */
export interface Call {
  /** SPIFFE identity of the peer's certificate, with or without `spiffe://`; absent for a connection without one. */
  readonly peer?: string
  readonly destination: Destination
  readonly protocol: 'http' | 'tcp'
  readonly method?: string
  /** `:authority` or `Host`, with its port. */
  readonly authority?: string
  /** Request target; query and dots are dealt with here. */
  readonly path?: string
  /** Headers in the order they came, repeats included. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly sourceIp?: string
  /** The client's address as told by `X-Forwarded-For` or the proxy protocol. @default sourceIp */
  readonly remoteIp?: string
  readonly sni?: string
  /** Payload of a validated JSON Web Token. */
  readonly claims?: JsonObject
  /** Envoy's dynamic metadata by filter name, for `experimental.envoy.filters.*`. */
  readonly metadata?: Readonly<Record<string, JsonObject>>
}

/** A call with what tests read again and again worked out once, when first asked for. */
export class Facts {
  readonly call: Call
  readonly identity: Identity | undefined
  #path: string | undefined
  #authority: string | undefined
  #source: Address | undefined
  #remote: Address | undefined
  #destination: Address | undefined
  readonly #headers = new Map<string, string>()
  readonly #absent = new Set<string>()

  constructor(call: Call) {
    this.call = call
    this.identity = call.peer === undefined ? undefined : knownIdentity(call.peer)
  }

  /** The normalised path without its query. */
  get path(): string | undefined {
    return this.#path ??= this.call.path === undefined ? undefined : normalisePath(this.call.path)
  }

  /** The authority in lower case. */
  get authority(): string | undefined {
    return this.#authority ??= this.call.authority?.toLowerCase()
  }

  get sourceAddress(): Address | undefined {
    return this.#source ??= addressOf(this.call.sourceIp)
  }

  get remoteAddress(): Address | undefined {
    return this.#remote ??= addressOf(this.call.remoteIp ?? this.call.sourceIp)
  }

  get destinationAddress(): Address | undefined {
    return this.#destination ??= addressOf(this.call.destination.ip)
  }

  /**
   * Reads a header by its name in lower case; repeats are joined by a comma, as Envoy joins them.
   *
   * `:method`, `:authority`, `:path` and `host` give the parts of the request line.
   */
  header(name: string): string | undefined {
    const known = this.#headers.get(name)
    if (known !== undefined) return known
    if (this.#absent.has(name)) return undefined
    const value = this.#findHeader(name)
    if (value === undefined) this.#absent.add(name)
    else this.#headers.set(name, value)
    return value
  }

  #findHeader(name: string): string | undefined {
    if (name === ':method') return this.call.method
    if (name === ':authority' || name === 'host') return this.call.authority
    if (name === ':path') return this.call.path
    let joined: string | undefined
    for (const [key, value] of this.call.headers ?? []) {
      if (key.length === name.length && key.toLowerCase() === name) joined = joined === undefined ? value : `${joined},${value}`
    }
    return joined
  }

  /** Reads a claim of the token by its path. */
  claim(path: readonly string[]): unknown {
    return this.call.claims === undefined ? undefined : atPointer(this.call.claims, toPointer(path))
  }

  /** Reads a key of a filter's dynamic metadata. */
  metadata(filter: string, key: string): unknown {
    const values = this.call.metadata === undefined ? undefined : getOwn(this.call.metadata, filter)
    return typeof values === 'object' && values !== null ? getOwn(values, key) : undefined
  }
}

function addressOf(text: string | undefined): Address | undefined {
  return text === undefined ? undefined : parseAddress(text)
}

// Peers repeat: a proxy sees few identities and many calls of each.
const IDENTITIES = new Map<string, Identity>()
const MOST_IDENTITIES = 1000

function knownIdentity(peer: string): Identity {
  const known = IDENTITIES.get(peer)
  if (known !== undefined) return known
  if (IDENTITIES.size >= MOST_IDENTITIES) IDENTITIES.clear()
  const identity = parseIdentity(peer)
  IDENTITIES.set(peer, identity)
  return identity
}
