import { createHash } from 'node:crypto'
import type { Clock, IdSource, Logger } from '../common/index.ts'
import { Secret } from '../configuration/index.ts'
import { DefinitionError } from '../errors/index.ts'
import type { HttpClient } from '../http-client/index.ts'
import type { AuthDefinitionLike, Authorization, AuthorizationContext, AuthorizedRequest, MaybePromise } from './authorization.ts'
import { createDiscovery, discoveryUrl } from './discovery.ts'
import { authFailed } from './failure.ts'
import { OAUTH_CLIENT_DEFAULTS, type Grant, type OAuthClient } from './oauth-client.ts'
import { createTokenSource, type TokenSource } from './token-source.ts'

/** What an `auth` definition needs from outside. */
export interface AuthDefinitionContext {
  readonly httpClient: HttpClient
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
}

type Values = Readonly<Record<string, unknown>>
type Evaluate = (text: string) => MaybePromise<unknown>

const GRANTS: Readonly<Record<string, Grant>> = { clientCredentials: 'client', password: 'password', resourceOwner: 'password', tokenExchange: 'exchange' }
const MOST_SOURCES = 100

/** Compiles an `auth` definition of a workflow; its properties are evaluated at each use (S282–S291, reading A25). */
export function compileAuthDefinition(definition: AuthDefinitionLike, evaluate: Evaluate, context: AuthDefinitionContext): Authorization {
  const sources = new Map<string, TokenSource>()
  const used = new WeakMap<AuthorizedRequest, { source: TokenSource; token: string; fresh: boolean }>()
  const applyOAuth = (request: AuthorizedRequest, values: Values, inbound: AuthorizationContext): MaybePromise<void> => {
    const source = openSource(definition, values, { ...context, sources })
    const token = source.token(inbound.signal ? { signal: inbound.signal } : {})
    const set = (value: string, fresh: boolean): void => {
      request.headers['Authorization'] = `Bearer ${value}`
      used.set(request, { source, token: value, fresh: fresh || used.has(request) })
    }
    if (typeof token === 'string') { set(token, false); return undefined }
    return token.then((value) => { set(value, true) })
  }
  return {
    async apply(request, inbound) {
      const values = await evaluateProperties(definition, evaluate)
      switch (definition.scheme) {
        case 'basic':
          request.headers['Authorization'] = `Basic ${Buffer.from(`${text(definition, values, 'username')}:${text(definition, values, 'password')}`, 'utf8').toString('base64')}`
          return
        case 'bearer':
          request.headers['Authorization'] = `Bearer ${text(definition, values, 'token')}`
          return
        case 'oauth2':
          await applyOAuth(request, values, inbound)
      }
    },
    renew(request) {
      const state = used.get(request)
      if (!state || state.fresh) return false
      state.source.invalidate(state.token)
      return true
    },
  }
}

async function evaluateProperties(definition: AuthDefinitionLike, evaluate: Evaluate): Promise<Values> {
  const { properties } = definition
  if (typeof properties === 'string') {
    const value = await evaluate(properties)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Values
    throw authFailed(`The auth definition "${definition.name}" names a secret that is not an object with its fields`)
  }
  const resolve = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return evaluate(value)
    if (Array.isArray(value)) return Promise.all(value.map(resolve))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(await Promise.all(Object.entries(value).map(async ([key, inner]) => [key, await resolve(inner)] as const)))
  }
  return (await resolve(properties)) as Values
}

function text(definition: AuthDefinitionLike, values: Values, name: string): string {
  const value = optionalText(values, name)
  if (value !== undefined) return value
  throw authFailed(`The auth definition "${definition.name}" has no "${name}", or it evaluates to nothing`)
}

function optionalText(values: Values, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined
}

function openSource(definition: AuthDefinitionLike, values: Values, { sources, ...context }: AuthDefinitionContext & { readonly sources: Map<string, TokenSource> }): TokenSource {
  const key = createHash('sha256').update(JSON.stringify(values)).digest('base64')
  let source = sources.get(key)
  if (!source) {
    // Values that change with each call must not pile up sources for ever.
    const oldest = sources.keys().next().value
    if (sources.size >= MOST_SOURCES && oldest !== undefined) sources.delete(oldest)
    source = createTokenSource({ ...context, client: toClient(definition, values, context) })
    sources.set(key, source)
  }
  return source
}

function toClient(definition: AuthDefinitionLike, values: Values, context: AuthDefinitionContext): OAuthClient {
  const grantType = optionalText(values, 'grantType') ?? 'clientCredentials'
  const grant = Object.hasOwn(GRANTS, grantType) ? GRANTS[grantType] : undefined
  if (grant === undefined) {
    throw new DefinitionError({ code: 'DEFINITION_INVALID', message: `The auth definition "${definition.name}" has grantType "${grantType}"; use clientCredentials, password or tokenExchange` })
  }
  const secret = optionalText(values, 'clientSecret')
  const list = (name: string): string[] => (Array.isArray(values[name]) ? values[name].map(String) : [])
  const pick = (entries: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(entries).flatMap(([parameter, name]) => {
      const value = optionalText(values, name)
      return value === undefined ? [] : [[parameter, value]]
    }))
  const audiences = list('audiences')
  return {
    ...OAUTH_CLIENT_DEFAULTS,
    name: definition.name,
    clientId: text(definition, values, 'clientId'),
    method: secret === undefined ? 'post' : 'basic',
    secret: () => Promise.resolve(secret === undefined ? undefined : new Secret(secret)),
    scopes: list('scopes'),
    grant,
    parameters: {
      ...pick({ username: 'username', password: 'password', subject_token: 'subjectToken', requested_subject: 'requestedSubject', requested_issuer: 'requestedIssuer' }),
      ...(audiences.length > 0 ? { audience: audiences.join(' ') } : {}),
    },
    tokenUrl: tokenUrlOf(definition, values, context),
  }
}

function tokenUrlOf(definition: AuthDefinitionLike, values: Values, context: AuthDefinitionContext): () => Promise<string> {
  const metadata = values['metadata']
  const fixed = typeof metadata === 'object' && metadata !== null ? optionalText(metadata as Values, 'tokenURL') : undefined
  if (fixed !== undefined) return () => Promise.resolve(fixed)
  const read = createDiscovery(definition.name, discoveryUrl(text(definition, values, 'authority')), context)
  return async () => {
    const { tokenEndpoint } = await read()
    if (tokenEndpoint !== undefined) return tokenEndpoint
    throw authFailed(`No token for "${definition.name}": the discovery document of its authority names no token_endpoint`)
  }
}
