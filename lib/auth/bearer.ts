import type { JWTPayload, JWTVerifyGetKey, errors as Errors } from 'jose'
import type { Clock } from '../common/index.ts'
import type { Settings } from '../configuration/index.ts'
import { ConfigurationError, FunctionError, RequestError } from '../errors/index.ts'
import type { HttpClient } from '../http-client/index.ts'
import { createDiscovery, discoveryUrl } from './discovery.ts'
import { wrongCredentials } from './embedded-users.ts'
import type { Identity, Mechanism } from './identity.ts'

/** What checking bearer tokens needs from outside. */
export interface BearerContext {
  readonly settings: Settings
  readonly httpClient: HttpClient
  readonly clock: Clock
}

interface Verifier {
  readonly keys: JWTVerifyGetKey
  readonly issuer: string | undefined
}

/**
 * Makes the check of bearer JWTs: signature by the keys of the issuer, issuer, audience, expiry (configuration.md §7).
 *
 * `undefined` when `sonatina.oidc.auth-server-url` is not set.
 *
 * @throws {@link ConfigurationError} for signatures that prove nothing, and for a missing key address.
 */
export function createBearerMechanism(context: BearerContext): Mechanism | undefined {
  const { settings, clock } = context
  const server = settings.text('sonatina.oidc.auth-server-url')
  const enabled = settings.boolean('sonatina.oidc.enabled', server !== undefined)
  if (!enabled || server === undefined) return undefined
  const algorithms = [...settings.list('sonatina.oidc.token.signature-algorithms', ['RS256', 'ES256'])]
  const unfit = algorithms.filter((name) => !/^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA)$/.test(name))
  if (unfit.length > 0) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `sonatina.oidc.token.signature-algorithms: ${unfit.join(', ')} cannot be accepted; use RS, PS or ES with 256, 384 or 512, or EdDSA` })
  }
  const audience = settings.list('sonatina.oidc.token.audience', []).filter((name) => name !== 'any')
  const tolerance = settings.duration('sonatina.oidc.token.lifespan-grace', 0) / 1000
  const open = createVerifier(context, server)
  const toIdentity = createIdentityReader(settings)
  return {
    challenge: 'Bearer',
    authenticate(headers) {
      const header = headers['authorization']
      const token = typeof header === 'string' ? /^Bearer\s+(\S+)\s*$/i.exec(header)?.[1] : undefined
      if (token === undefined) return undefined
      return open().then(async ({ keys, issuer }) => {
        const { jwtVerify } = await import('jose')
        const { payload } = await jwtVerify(token, keys, {
          algorithms,
          currentDate: new Date(clock.now()),
          clockTolerance: tolerance,
          requiredClaims: ['exp'],
          ...(issuer === undefined ? {} : { issuer }),
          ...(audience.length > 0 ? { audience } : {}),
        })
        return toIdentity(payload)
      }).catch(async (error: unknown) => { throw toRequestError(error, (await import('jose')).errors) })
    },
  }
}

function createVerifier({ settings, httpClient, clock }: BearerContext, server: string): () => Promise<Verifier> {
  const base = server.replace(/\/+$/, '')
  const path = settings.text('sonatina.oidc.jwks-path')
  const stated = settings.text('sonatina.oidc.token.issuer')
  const discovers = settings.boolean('sonatina.oidc.discovery-enabled', true)
  if (!discovers && path === undefined) {
    throw new ConfigurationError({ code: 'CONFIGURATION_MISSING', message: `Without discovery the address of the keys must be set.\n${settings.describeMissing(['sonatina.oidc.jwks-path'])}` })
  }
  const discover = createDiscovery('bearer tokens', discoveryUrl(base), { httpClient, clock })
  let opened: Promise<Verifier> | undefined
  const open = async (): Promise<Verifier> => {
    const found = discovers && (path === undefined || stated === undefined) ? await discover() : {}
    const address = path === undefined ? found.jwksUri : new URL(path, `${base}/`).href
    if (address === undefined) throw new RequestError({ code: 'NOT_AVAILABLE', message: 'Bearer tokens cannot be checked now' })
    const { createRemoteJWKSet, customFetch } = await import('jose')
    const keys = createRemoteJWKSet(new URL(address), { [customFetch]: (url: string) => fetchKeys(httpClient, url) })
    return { keys, issuer: stated === 'any' ? undefined : (stated ?? found.issuer ?? base) }
  }
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
}

async function fetchKeys(httpClient: HttpClient, url: string): Promise<Response> {
  const { status, body } = await httpClient.request({ method: 'GET', url, headers: { Accept: 'application/json' }, purpose: 'keys of the issuer' })
  return new Response(Buffer.from(body), { status, headers: { 'content-type': 'application/json' } })
}

function toRequestError(error: unknown, errors: typeof Errors): RequestError {
  if (error instanceof RequestError) return error
  const unreachable = error instanceof FunctionError || error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || !(error instanceof errors.JOSEError)
  return unreachable ? new RequestError({ code: 'NOT_AVAILABLE', message: 'Bearer tokens cannot be checked now', cause: error }) : wrongCredentials()
}

function createIdentityReader(settings: Settings): (payload: JWTPayload) => Identity {
  const principal = settings.text('sonatina.oidc.token.principal-claim')
  const names = principal === undefined ? ['upn', 'preferred_username', 'sub'] : [principal]
  const paths = settings.list('sonatina.oidc.roles.role-claim-path', ['groups', 'realm_access/roles', 'roles']).map((path) => path.split('/'))
  return (payload) => {
    const name = names.map((claim) => payload[claim]).find((value): value is string => typeof value === 'string' && value !== '')
    if (name === undefined) throw wrongCredentials()
    return { name, roles: [...new Set(paths.flatMap((path) => rolesAt(payload, path)))], scheme: 'bearer' }
  }
}

function rolesAt(payload: JWTPayload, path: readonly string[]): string[] {
  let value: unknown = payload
  for (const name of path) value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  if (typeof value === 'string') return value.split(' ').filter((role) => role !== '')
  return Array.isArray(value) ? value.filter((role): role is string => typeof role === 'string') : []
}
