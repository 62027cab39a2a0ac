import type { Secret } from '../configuration/index.ts'

/** A grant that needs no user at a browser. */
export type Grant = 'client' | 'password' | 'refresh' | 'exchange' | 'jwt'

/** How a client proves its identity with a signed assertion (RFC 7523). */
export interface AssertionOptions {
  /** Signs with HMAC; the client secret when it is not set. */
  readonly secret?: Secret
  /** Private key: PEM, base64 of PKCS8, or JWK text. */
  readonly key?: Secret
  readonly keyPassword?: Secret
  readonly keyId?: string
  readonly algorithm?: string
  readonly audience?: string
  readonly issuer?: string
  readonly subject?: string
  readonly claims: Readonly<Record<string, string>>
  /** Seconds. */
  readonly lifespan: number
}

/** Everything about one OAuth 2.0 client (configuration.md §4). */
export interface OAuthClient {
  /** For messages: the scheme key. */
  readonly name: string
  readonly clientId: string
  readonly method: 'basic' | 'post' | 'query' | 'jwt'
  /** Gives the secret; asked at each token request, since providers may change it. */
  readonly secret: () => Promise<Secret | undefined>
  readonly encode: boolean
  readonly assertion?: AssertionOptions
  readonly scopes: readonly string[]
  readonly grant: Grant
  readonly parameters: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly names: {
    readonly accessToken: string
    readonly refreshToken: string
    readonly expiresIn: string
    readonly refreshExpiresIn: string
  }
  /** Milliseconds that a token lives whose answer does not say. */
  readonly defaultLife: number
  /** Milliseconds. */
  readonly skew: number
  readonly refreshSkew: number
  readonly refreshInterval?: number
  readonly absoluteExpiry: boolean
  /** Gives the token address; asked at each token request, answered from memory after the first success. */
  readonly tokenUrl: () => Promise<string>
}

/** A token and how long it is good for. */
export interface Token {
  readonly accessToken: string
  readonly obtainedAt: number
  /** Instant, milliseconds since the epoch. */
  readonly expiresAt: number
  readonly refreshToken?: string
  readonly refreshExpiresAt?: number
}

/** The defaults of {@link OAuthClient}, for clients that do not come from settings. */
export const OAUTH_CLIENT_DEFAULTS = {
  method: 'basic',
  encode: true,
  scopes: [],
  parameters: {},
  headers: {},
  names: { accessToken: 'access_token', refreshToken: 'refresh_token', expiresIn: 'expires_in', refreshExpiresIn: 'refresh_expires_in' },
  defaultLife: 60_000,
  skew: 5000,
  refreshSkew: 5000,
  absoluteExpiry: false,
} as const satisfies Partial<OAuthClient>
