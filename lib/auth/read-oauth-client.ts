import { readFileSync } from 'node:fs'
import type { Clock } from '../common/index.ts'
import { Secret, settingKey, type Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import { readStoredKey, type HttpClient } from '../http-client/index.ts'
import { askProvider, type CredentialsProvider } from './credentials-provider.ts'
import { createDiscovery, discoveryUrl } from './discovery.ts'
import { authFailed } from './failure.ts'
import type { AssertionOptions, Grant, OAuthClient } from './oauth-client.ts'

/** What reading a client needs besides its settings. */
export interface OAuthClientSources {
  readonly settings: Settings
  readonly providers: Readonly<Record<string, CredentialsProvider>>
  readonly httpClient: HttpClient
  readonly clock: Clock
  /** Token address of the document, absolute. */
  readonly documentTokenUrl: string | undefined
  /** Address of a discovery document named by the document. */
  readonly documentDiscoveryUrl: string | undefined
}

/** A client, or the keys that are missing for one. */
export type ReadClient = { readonly client: OAuthClient } | { readonly missing: readonly string[] }

/** Parameters of grants that are looked for in the environment too, where names cannot be listed. */
const KNOWN_PARAMETERS: Readonly<Record<Grant, readonly string[]>> = {
  client: ['audience', 'resource'],
  password: ['username', 'password'],
  refresh: ['refresh_token'],
  exchange: ['audience', 'resource', 'requested_token_type', 'subject_token', 'subject_token_type', 'requested_subject', 'requested_issuer'],
  jwt: ['assertion'],
}

/**
 * Reads the OAuth 2.0 client of a scheme (configuration.md §4).
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for settings that contradict each other or need a user at a browser.
 */
export function readOAuthClient(schemeKey: string, sources: OAuthClientSources): ReadClient {
  const { settings } = sources
  const key = (attribute: string): string => `${settingKey('sonatina.oidc-client', schemeKey)}.${attribute}`
  const clientId = settings.text(key('client-id'))
  const assertion = readAssertion(settings, schemeKey, key)
  const secret = readSecret(sources, key, schemeKey)
  const missing = [
    ...(clientId === undefined ? [key('client-id')] : []),
    ...(secret === undefined && assertion === undefined ? [key('credentials.client-secret.value')] : []),
  ]
  if (!settings.boolean(key('client-enabled'), true) || clientId === undefined || missing.length > 0) return { missing }
  const grant = readGrant(settings, key)
  return {
    client: {
      name: schemeKey,
      clientId,
      method: assertion === undefined ? readMethod(settings, key) : 'jwt',
      secret: secret ?? (() => Promise.resolve(undefined)),
      encode: settings.boolean(key('credentials.client-secret.encode'), true),
      ...(assertion === undefined ? {} : { assertion }),
      scopes: settings.list(key('scopes'), []),
      grant,
      parameters: readParameters(settings, key, grant),
      headers: Object.fromEntries(settings.segments(key('headers')).map((name) => [name, settings.secret(settingKey(key('headers'), name))?.reveal() ?? ''])),
      names: readNames(settings, key),
      defaultLife: settings.duration(key('access-token-expires-in'), 60_000),
      skew: settings.duration(key('access-token-expiry-skew'), 5000),
      refreshSkew: settings.duration(key('refresh-token-time-skew'), 5000),
      ...optionalInterval(settings.duration(key('refresh-interval'))),
      absoluteExpiry: settings.boolean(key('absolute-expires-in'), false),
      tokenUrl: readTokenUrl(schemeKey, sources, key),
    },
  }
}

/** How the client proves itself; a signed assertion when `post_jwt` asks for one. */
function readMethod(settings: Settings, key: (attribute: string) => string): OAuthClient['method'] {
  const method = settings.text(key('credentials.client-secret.method'), 'basic')
  if (method === 'post_jwt') return 'jwt'
  return method === 'post' || method === 'query' ? method : 'basic'
}

/** How the authorization server calls the members of its answers. */
function readNames(settings: Settings, key: (attribute: string) => string): OAuthClient['names'] {
  return {
    accessToken: settings.secret(key('grant.access-token-property'))?.reveal() ?? 'access_token',
    refreshToken: settings.secret(key('grant.refresh-token-property'))?.reveal() ?? 'refresh_token',
    expiresIn: settings.text(key('grant.expires-in-property'), 'expires_in'),
    refreshExpiresIn: settings.text(key('grant.refresh-expires-in-property'), 'refresh_expires_in'),
  }
}

function optionalInterval(interval: number | undefined): { readonly refreshInterval?: number } {
  return interval === undefined || interval === 0 ? {} : { refreshInterval: interval }
}

function readGrant(settings: Settings, key: (attribute: string) => string): Grant {
  const grant = settings.text(key('grant.type'), 'client')
  if (grant === 'client' || grant === 'password' || grant === 'refresh' || grant === 'exchange' || grant === 'jwt') return grant
  throw new ConfigurationError({
    code: 'CONFIGURATION_INVALID',
    message: `${key('grant.type')}: the grant "${grant}" needs a user at a browser; use client, password, refresh, exchange or jwt`,
  })
}

function readSecret(sources: OAuthClientSources, key: (attribute: string) => string, schemeKey: string): (() => Promise<Secret>) | undefined {
  const { settings, providers } = sources
  const short = settings.secret(key('credentials.secret'))
  const long = settings.secret(key('credentials.client-secret.value'))
  if (short && long) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `${key('credentials.secret')} and ${key('credentials.client-secret.value')} are both set; keep one`,
    })
  }
  const value = short ?? long
  if (value) return () => Promise.resolve(value)
  const name = settings.text(key('credentials.client-secret.provider.name'))
  if (name === undefined) return undefined
  const keyring = settings.text(key('credentials.client-secret.provider.keyring-name'))
  const entry = settings.secret(key('credentials.client-secret.provider.key'))?.reveal() ?? schemeKey
  return () => askProvider(settings, providers, { name, keyring, key: entry })
}

function readAssertion(settings: Settings, schemeKey: string, key: (attribute: string) => string): AssertionOptions | undefined {
  const jwt = (attribute: string): string => key(`credentials.jwt.${attribute}`)
  const privateKey = readAssertionKey(settings, schemeKey, jwt)
  const secret = settings.secret(jwt('secret'))
  const postJwt = settings.text(key('credentials.client-secret.method'), 'basic') === 'post_jwt'
  if (!privateKey && !secret && !postJwt) return undefined
  if (!privateKey && !secret && readsNoSecret(settings, key)) return undefined
  const text = (name: string, attribute: string): Readonly<Record<string, string>> => {
    const value = settings.text(jwt(attribute))
    return value === undefined ? {} : { [name]: value }
  }
  return {
    ...(privateKey ? { key: privateKey } : {}),
    ...(secret ? { secret } : {}),
    ...text('keyId', 'token-key-id'),
    ...text('keyId', 'key-id'),
    ...text('algorithm', 'signature-algorithm'),
    ...text('audience', 'audience'),
    ...text('issuer', 'issuer'),
    ...text('subject', 'subject'),
    claims: Object.fromEntries(settings.segments(jwt('claims')).map((name) => [name, settings.secret(settingKey(jwt('claims'), name))?.reveal() ?? ''])),
    lifespan: settings.number(jwt('lifespan'), 10),
  }
}

function readsNoSecret(settings: Settings, key: (attribute: string) => string): boolean {
  return !['credentials.secret', 'credentials.client-secret.value', 'credentials.client-secret.provider.name'].some((name) => settings.has(key(name)))
}

function readAssertionKey(settings: Settings, schemeKey: string, jwt: (attribute: string) => string): Secret | undefined {
  const inline = settings.secret(jwt('key'))
  if (inline) return inline
  const store = settings.text(jwt('key-store-file'))
  if (store !== undefined) {
    const password = settings.secret(jwt('key-store-password'))
    return new Secret(readStoredKey(schemeKey, { file: store, ...(password ? { password } : {}) }))
  }
  const file = settings.text(jwt('key-file'))
  if (file === undefined) return undefined
  try {
    return new Secret(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${jwt('key-file')}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})` })
  }
}

function readParameters(settings: Settings, key: (attribute: string) => string, grant: Grant): Record<string, string> {
  const prefix = key(`grant-options.${grant}`)
  const names = new Set([...settings.segments(prefix), ...KNOWN_PARAMETERS[grant]])
  return Object.fromEntries([...names].flatMap((name) => {
    const value = settings.secret(settingKey(prefix, name))
    return value ? [[name, value.reveal()]] : []
  }))
}

// The first that exists: token-path, discovery, the address in the document (configuration.md §4 "Token address").
function readTokenUrl(schemeKey: string, sources: OAuthClientSources, key: (attribute: string) => string): () => Promise<string> {
  const { settings, documentTokenUrl } = sources
  const path = settings.secret(key('token-path'))?.reveal()
  const server = settings.text(key('auth-server-url'))
  const fixed = path === undefined ? undefined : absolute(path, server ?? documentTokenUrl)
  if (fixed !== undefined) return () => Promise.resolve(fixed)
  const discovered = settings.boolean(key('discovery-enabled'), true)
    ? (server === undefined ? sources.documentDiscoveryUrl : discoveryUrl(server))
    : undefined
  const missing = (): Error => authFailed(`The OAuth 2.0 client "${schemeKey}" has no token address.\n${settings.describeMissing([key('auth-server-url'), key('token-path')])}`)
  if (discovered === undefined) return () => (documentTokenUrl === undefined ? Promise.reject(missing()) : Promise.resolve(documentTokenUrl))
  const read = createDiscovery(schemeKey, discovered, sources)
  return async () => {
    const address = (await read()).tokenEndpoint ?? documentTokenUrl
    if (address !== undefined) return address
    throw authFailed(`No token for "${schemeKey}": the discovery document names no token_endpoint`)
  }
}

/** Puts a relative token path behind the server address, whose own path is kept. */
function absolute(path: string, server: string | undefined): string | undefined {
  if (/^https?:\/\//i.test(path)) return path
  return server === undefined ? undefined : `${server.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`
}
