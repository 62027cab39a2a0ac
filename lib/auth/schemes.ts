import { canonicalName, settingKey, type Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import type { AuthorizationContext, AuthorizedRequest, MaybePromise, OperationSecurity, SecurityScheme } from './authorization.ts'
import { authFailed } from './failure.ts'
import type { TokenSource } from './token-source.ts'

/** A scheme with its credentials, ready to be put into requests. */
export interface Applier {
  /** What it sets, for finding two that would set the same: `header authorization`, `query key`. */
  readonly target: string
  apply(request: AuthorizedRequest, context: AuthorizationContext): MaybePromise<void>
  /** Forgets the token in a request after a 401. */
  readonly forget?: (request: AuthorizedRequest, context: AuthorizationContext) => void
}

/** A scheme compiled, or why it has no credentials. */
export type CompiledScheme = { readonly applier: Applier | undefined } | { readonly problem: string }

/** A token source and whether its grant works on the token of a caller. */
export interface OpenedSource {
  readonly source: TokenSource
  readonly subject: 'required' | 'optional' | 'none'
}

/** Gives the token source of a scheme, or the keys that are missing for one. */
export type OpenTokenSource = (scheme: SecurityScheme, schemeKey: string, security: OperationSecurity) =>
  OpenedSource | { readonly missing: readonly string[] }

const AUTHORIZATION = 'header authorization'

/** What schemes are compiled with. */
interface SchemeContext {
  readonly settings: Settings
  readonly open: OpenTokenSource
}

/** A scheme on its way: where it stands, for messages, and the setting of each of its attributes. */
interface Compiling {
  readonly where: string
  readonly key: (attribute: string) => string
  readonly settings: Settings
}

/** Compiles one scheme of an operation: propagation, exchange, OAuth client, static values, in this order (configuration.md §5). */
export function compileScheme(name: string, security: OperationSecurity, { settings, open }: SchemeContext): CompiledScheme {
  const scheme = security.schemes[name]
  const where = `Security scheme "${name}" (${security.document}, operation ${security.operation})`
  if (!scheme) return { problem: `${where} is not declared in the document` }
  const key = (attribute: string): string => `${settingKey('sonatina.openapi-generator', security.fileKey, 'auth', canonicalName(name))}.${attribute}`
  if (sendsAuthorization(scheme) && settings.boolean(key('token-propagation'), false)) {
    return { applier: propagate(where, settings.text(key('header-name'), 'Authorization')) }
  }
  const compiling: Compiling = { where, key, settings }
  switch (kindOf(scheme)) {
    case 'oauth2':
      return compileOAuth(open(scheme, canonicalName(name), security), canonicalName(name), compiling)
    case 'basic':
      return compileBasic(compiling)
    case 'bearer':
      return compileBearer(compiling)
    case 'apiKey':
      return compileApiKey(scheme, compiling)
    case 'mutualTLS':
      return compileMutualTls(security.fileKey, compiling)
    case 'unsupported':
      return { problem: `${where} is of type ${scheme.type}${scheme.scheme === undefined ? '' : ` ${scheme.scheme}`}, which is not supported` }
  }
}

type Kind = 'oauth2' | 'basic' | 'bearer' | 'apiKey' | 'mutualTLS' | 'unsupported'

function kindOf(scheme: SecurityScheme): Kind {
  switch (scheme.type) {
    case 'oauth2':
    case 'openIdConnect':
      return 'oauth2'
    case 'basic':
    case 'apiKey':
    case 'mutualTLS':
      return scheme.type
    case 'http': {
      const word = scheme.scheme?.toLowerCase()
      return word === 'basic' || word === 'bearer' ? word : 'unsupported'
    }
    default:
      return 'unsupported'
  }
}

function sendsAuthorization(scheme: SecurityScheme): boolean {
  const kind = kindOf(scheme)
  return kind === 'oauth2' || kind === 'basic' || kind === 'bearer' || (kind === 'apiKey' && scheme.in === 'header' && scheme.name?.toLowerCase() === 'authorization')
}

function compileOAuth(opened: ReturnType<OpenTokenSource>, schemeKey: string, { where, settings }: Compiling): CompiledScheme {
  if ('missing' in opened) {
    const problem = `${where} has no OAuth 2.0 client.`
    if (opened.missing.length > 0) return { problem: `${problem}\n${settings.describeMissing(opened.missing)}` }
    return { problem: `${problem}\nIt is turned off by ${settingKey('sonatina.oidc-client', schemeKey)}.client-enabled=false` }
  }
  const { source } = opened
  const subjectOf = (inbound: AuthorizationContext): string | undefined => {
    if (opened.subject === 'none') return undefined
    if (opened.subject === 'optional' && inbound.headers['authorization'] === undefined) return undefined
    return inboundValue(where, 'Authorization', inbound).replace(/^Bearer\s+/i, '')
  }
  const set = (request: AuthorizedRequest, token: string): void => { request.headers['Authorization'] = `Bearer ${token}` }
  return {
    applier: {
      target: AUTHORIZATION,
      apply(request, inbound) {
        const subject = subjectOf(inbound)
        const token = source.token({ ...(subject === undefined ? {} : { subject }), ...(inbound.signal ? { signal: inbound.signal } : {}) })
        if (typeof token === 'string') { set(request, token); return undefined }
        return token.then((fresh) => { set(request, fresh) })
      },
      forget(request, inbound) {
        const token = request.headers['Authorization']?.replace(/^Bearer /, '')
        if (token !== undefined) source.invalidate(token, subjectOf(inbound))
      },
    },
  }
}

function propagate(where: string, headerName: string): Applier {
  return {
    target: AUTHORIZATION,
    apply(request, inbound) {
      const value = inboundValue(where, headerName, inbound)
      request.headers['Authorization'] = /^[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]*\s+\S/.test(value) ? value : `Bearer ${value}`
    },
  }
}

function inboundValue(where: string, headerName: string, inbound: AuthorizationContext): string {
  const value = inbound.headers[headerName.toLowerCase()]?.trim()
  if (value === undefined || value === '') {
    throw authFailed(`${where} passes the caller's header "${headerName}" on, and the caller sent none. After a restart the headers of an instance exist only with sonatina.persistence.headers.enabled=true`)
  }
  // A header that came by another way than HTTP, such as an event, can hold anything.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw authFailed(`${where}: the caller's header "${headerName}" holds characters that a header cannot`)
  return value
}

function compileBasic({ where, key, settings }: Compiling): CompiledScheme {
  const username = settings.text(key('username'))
  const password = settings.secret(key('password'))
  if (username === undefined || password === undefined) {
    const missing = [...(username === undefined ? [key('username')] : []), ...(password ? [] : [key('password')])]
    return { problem: `${where} has no user name and password.\n${settings.describeMissing(missing)}` }
  }
  if (username.includes(':')) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${key('username')}: a user name of http basic cannot hold ":"` })
  }
  return { applier: fixedHeader('Authorization', `Basic ${Buffer.from(`${username}:${password.reveal()}`, 'utf8').toString('base64')}`) }
}

function compileBearer({ where, key, settings }: Compiling): CompiledScheme {
  const token = settings.secret(key('bearer-token'))
  if (!token) return { problem: `${where} has no token.\n${settings.describeMissing([key('bearer-token')])}` }
  return { applier: fixedHeader('Authorization', `Bearer ${token.reveal()}`) }
}

function compileApiKey(scheme: SecurityScheme, { where, key, settings }: Compiling): CompiledScheme {
  const value = settings.secret(key('api-key'))
  if (!value) return { problem: `${where} has no API key.\n${settings.describeMissing([key('api-key')])}` }
  const name = scheme.name ?? ''
  if (name === '') return { problem: `${where} does not say where its API key goes` }
  if (scheme.in === 'header') return { applier: fixedHeader(name, value.reveal()) }
  if (scheme.in === 'query') return { applier: { target: `query ${name}`, apply(request) { request.query[name] = value.reveal() } } }
  if (scheme.in === 'cookie') return { applier: { target: `cookie ${name}`, apply(request) { request.cookies[name] = value.reveal() } } }
  return { problem: `${where} puts its API key in "${scheme.in ?? ''}", which is not header, query or cookie` }
}

function compileMutualTls(fileKey: string, { where, settings }: Compiling): CompiledScheme {
  const key = `${settingKey('sonatina.rest-client', fileKey)}.key-store`
  return settings.has(key) ? { applier: undefined } : { problem: `${where} needs a client certificate.\n${settings.describeMissing([key])}` }
}

function fixedHeader(name: string, value: string): Applier {
  return { target: `header ${name.toLowerCase()}`, apply(request) { request.headers[name] = value } }
}

/** Throws the problem of a scheme each time credentials are asked for. */
export function failingAuthorization(message: string): { apply(): never; renew(): false } {
  return { apply() { throw authFailed(message) }, renew: () => false }
}

