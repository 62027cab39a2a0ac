import { createHash } from 'node:crypto'
import type { Cancel, CancelSignal, Clock, Logger } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'
import type { MaybePromise } from './authorization.ts'
import { authFailed } from './failure.ts'
import type { OAuthClient, Token } from './oauth-client.ts'
import { createTokenRequester, type TokenRequestContext } from './token-request.ts'

/** What one wants a token for. */
interface TokenWish {
  /** The caller's token, for exchange and jwt. */
  readonly subject?: string
  /** Stops waiting; the request goes on for the others that wait. */
  readonly signal?: CancelSignal
}

/** Gives tokens of one client, from memory where it can (configuration.md §4 "Token cache"). */
export interface TokenSource {
  /**
   * Gives a valid token: at once when it is in memory, else a promise of a fresh one.
   *
   * @throws {@link FunctionError} `AUTH_FAILED`
   */
  token(wish?: TokenWish): MaybePromise<string>
  /** Forgets a token that a service refused, unless another has taken its place. */
  invalidate(token: string, subject?: string): void
  /** Stops background renewal and forgets all tokens. */
  close(): void
}

/** What a token source is made from. */
export interface TokenSourceOptions extends TokenRequestContext {
  readonly client: OAuthClient
  readonly log: Logger
  /** Renewal of exchanged tokens in the background: so long before their end, looked at so often; milliseconds. */
  readonly proactive?: { readonly before: number; readonly every: number }
}

interface Entry {
  readonly subject: string | undefined
  token: Token | undefined
  /** Instant until which the token may be used. */
  validUntil: number
  flight: Promise<Token> | undefined
  failure: { readonly error: unknown; readonly until: number } | undefined
  lastUse: number
}

const LONGEST_CACHE = 10_000
const FAILURE_LIFE = 1000
const CLIENT_REFUSED = new Set(['invalid_client', 'unauthorized_client'])

/** Creates the token source of a client. */
export function createTokenSource(options: TokenSourceOptions): TokenSource {
  return new CachedTokenSource(options)
}

class CachedTokenSource implements TokenSource {
  readonly #client: OAuthClient
  readonly #clock: Clock
  readonly #log: Logger
  readonly #requester
  readonly #proactive: TokenSourceOptions['proactive']
  readonly #entries = new Map<string, Entry>()
  readonly #own: Entry
  #cancelBackground: Cancel | undefined
  #closed = false

  constructor(options: TokenSourceOptions) {
    this.#client = options.client
    this.#clock = options.clock
    this.#log = options.log
    this.#requester = createTokenRequester(options.client, options)
    this.#proactive = options.proactive
    this.#own = newEntry(undefined)
  }

  token(wish: TokenWish = {}): MaybePromise<string> {
    const entry = this.#entry(wish.subject)
    const now = this.#clock.now()
    entry.lastUse = now
    if (entry.token && now < entry.validUntil) return entry.token.accessToken
    if (entry.failure && now < entry.failure.until) throw entry.failure.error
    this.#schedule()
    return waitFor(this.#renew(entry), wish.signal).then(({ accessToken }) => accessToken)
  }

  invalidate(token: string, subject?: string): void {
    const entry = this.#entry(subject)
    if (entry.token?.accessToken === token) entry.validUntil = 0
  }

  close(): void {
    this.#closed = true
    this.#cancelBackground?.()
    this.#entries.clear()
    this.#own.token = undefined
  }

  #entry(subject: string | undefined): Entry {
    if (subject === undefined || (this.#client.grant !== 'exchange' && this.#client.grant !== 'jwt')) return this.#own
    const key = createHash('sha256').update(subject).digest('base64')
    let entry = this.#entries.get(key)
    if (!entry) {
      if (this.#entries.size >= LONGEST_CACHE) this.#entries.delete(this.#entries.keys().next().value ?? '')
      entry = newEntry(subject)
      this.#entries.set(key, entry)
    }
    return entry
  }

  // One request in flight for each entry; those who come meanwhile share its outcome.
  #renew(entry: Entry): Promise<Token> {
    entry.flight ??= this.#fetch(entry).then(
      (token) => {
        entry.flight = undefined
        entry.failure = undefined
        this.#keep(entry, token)
        return token
      },
      (error: unknown) => {
        entry.flight = undefined
        if (error instanceof FunctionError && CLIENT_REFUSED.has(String(error.details['error']))) {
          entry.failure = { error, until: this.#clock.now() + FAILURE_LIFE }
        }
        throw error
      },
    )
    return entry.flight
  }

  async #fetch(entry: Entry): Promise<Token> {
    const refreshToken = this.#usableRefreshToken(entry)
    if (refreshToken !== undefined) {
      try {
        return await this.#requester.refresh(refreshToken)
      } catch (error) {
        if (!(error instanceof FunctionError) || error.details['error'] !== 'invalid_grant') throw error
        this.#log.debug({ client: this.#client.name }, 'The refresh token is no longer accepted; the whole grant is run')
      }
    }
    if (this.#client.grant !== 'exchange') return this.#requester.grant(entry.subject)
    this.#log.info({ client: this.#client.name }, entry.token ? 'token renewal started' : 'token exchange started')
    try {
      const token = await this.#requester.grant(entry.subject)
      this.#log.info({ client: this.#client.name }, entry.token ? 'token refresh completed' : 'token exchange completed')
      return token
    } catch (error) {
      this.#log.warn({ client: this.#client.name }, entry.token ? 'token refresh failed' : 'token exchange failed')
      throw error
    }
  }

  // An exchanged token is renewed by exchanging again: the answer must stand for the caller's token as it is now.
  #usableRefreshToken({ token }: Entry): string | undefined {
    if (!token || this.#client.grant === 'exchange') return undefined
    const end = token.refreshExpiresAt
    const usable = end === undefined || this.#clock.now() < end - Math.min(this.#client.refreshSkew, (end - token.obtainedAt) / 2)
    return usable ? token.refreshToken : undefined
  }

  #keep(entry: Entry, token: Token): void {
    if (this.#closed) return
    // An answer without a new refresh token leaves the old one in force (RFC 6749 §6).
    const refresh = token.refreshToken === undefined && entry.token?.refreshToken !== undefined && this.#client.grant !== 'exchange'
      ? { refreshToken: entry.token.refreshToken, ...(entry.token.refreshExpiresAt === undefined ? {} : { refreshExpiresAt: entry.token.refreshExpiresAt }) }
      : {}
    entry.token = { ...refresh, ...token }
    entry.validUntil = token.expiresAt - Math.min(this.#client.skew, (token.expiresAt - token.obtainedAt) / 2)
  }

  // Background renewal begins with the first use, so that a client nobody calls causes no traffic.
  #schedule(): void {
    const every = this.#proactive?.every ?? this.#client.refreshInterval
    if (every === undefined || this.#cancelBackground || this.#closed) return
    this.#cancelBackground = this.#clock.at(this.#clock.now() + every, () => {
      this.#cancelBackground = undefined
      for (const entry of [this.#own, ...this.#entries.values()]) this.#renewEarly(entry)
      if (this.#own.token ?? this.#entries.size > 0) this.#schedule()
    })
  }

  #renewEarly(entry: Entry): void {
    const { token } = entry
    if (!token) return
    const now = this.#clock.now()
    // Not used for a whole life: its instance is most likely gone.
    if (now - entry.lastUse > token.expiresAt - token.obtainedAt) {
      for (const [key, each] of this.#entries) if (each === entry) this.#entries.delete(key)
      return
    }
    if (this.#proactive && now < token.expiresAt - this.#proactive.before) return
    this.#renew(entry).catch((error: unknown) => {
      this.#log.warn({ client: this.#client.name, reason: error instanceof Error ? error.message : String(error) }, 'A token could not be renewed in the background')
    })
  }
}

function newEntry(subject: string | undefined): Entry {
  return { subject, token: undefined, validUntil: 0, flight: undefined, failure: undefined, lastUse: 0 }
}

function waitFor<T>(promise: Promise<T>, signal: CancelSignal | undefined): Promise<T> {
  if (!signal) return promise
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => { reject(authFailed('The call was cancelled while it waited for a token', { cause: signal.reason })) }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => { signal.removeEventListener('abort', stop) })
  })
}
