import { createRequire } from 'node:module'
import type ClientOAuth2 from 'client-oauth2'
import type { Clock, IdSource } from '../common/index.ts'
import type { HttpClient } from '../http-client/index.ts'
import { ASSERTION_TYPE, signAssertion } from './client-assertion.ts'
import { authFailed } from './failure.ts'
import type { OAuthClient, Token } from './oauth-client.ts'
import { createTransport, type TokenAnswer } from './transport.ts'

/** What token requests need from outside. */
export interface TokenRequestContext {
  readonly httpClient: HttpClient
  readonly clock: Clock
  readonly ids: IdSource
}

/** Asks for tokens, without a cache. */
export interface TokenRequester {
  /** Runs the grant of the client; `subject` is the caller's token, for exchange and jwt. @throws {@link FunctionError} `AUTH_FAILED` */
  grant(subject: string | undefined): Promise<Token>
  /** Trades a refresh token. @throws {@link FunctionError} `AUTH_FAILED` */
  refresh(refreshToken: string): Promise<Token>
}

const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'

// The declared types leave out that a header may be undefined, which is how an unwanted `Authorization` is suppressed.
interface RequestParts {
  headers: Record<string, string>
  body: Record<string, string>
  query: Record<string, string>
}

interface PreparedRequest {
  readonly oauth: ClientOAuth2
  readonly parts: RequestParts
}

// It brings a list of all public suffixes along: read for the first client of a service, at load, and not by its first call.
let library: typeof ClientOAuth2 | undefined
const loadLibrary = (): typeof ClientOAuth2 => library ??= createRequire(import.meta.url)('client-oauth2') as typeof ClientOAuth2

/** Makes the requester of a client; client-oauth2 builds the requests, our transport sends them. */
export function createTokenRequester(client: OAuthClient, context: TokenRequestContext): TokenRequester {
  const Client = loadLibrary()
  const transport = createTransport(client, context.httpClient, context.clock)
  const prepare = async (): Promise<PreparedRequest> => {
    const tokenUrl = await client.tokenUrl()
    const { id, secret, parts } = await authenticate(client, tokenUrl, context)
    const oauth = new Client({
      clientId: id,
      clientSecret: secret,
      accessTokenUri: tokenUrl,
      // An empty list would be sent as `scope=`.
      ...(client.scopes.length > 0 ? { scopes: [...client.scopes] } : {}),
    }, transport)
    return { oauth, parts }
  }
  return {
    async grant(subject) {
      const prepared = await prepare()
      Object.assign(prepared.parts.body, grantBody(client, subject))
      const answer = await runGrant(client, prepared, subject)
      return toToken(client, answer, context.clock.now())
    },
    async refresh(refreshToken) {
      const { oauth, parts } = await prepare()
      const answer = await oauth.createToken({ refresh_token: refreshToken }).refresh(parts)
      return toToken(client, answer, context.clock.now())
    },
  }
}

async function runGrant(client: OAuthClient, { oauth, parts }: PreparedRequest, subject: string | undefined): Promise<ClientOAuth2.Token> {
  const { parameters } = client
  switch (client.grant) {
    case 'client':
    case 'exchange':
      return oauth.credentials.getToken(parts)
    case 'password':
      return oauth.owner.getToken(required(client, 'username'), required(client, 'password'), parts)
    case 'jwt': {
      const assertion = parameters['assertion'] ?? subject
      if (assertion === undefined) throw authFailed(`No token for "${client.name}": the grant jwt needs grant-options.jwt.assertion, or a caller with a token`)
      return oauth.jwt.getToken(assertion, parts)
    }
    case 'refresh':
      return oauth.createToken({ refresh_token: required(client, 'refresh_token') }).refresh(parts)
  }
}

// Values given here replace those of the flow, so the exchange rides on the client-credentials flow.
function grantBody(client: OAuthClient, subject: string | undefined): Record<string, string> {
  if (client.grant !== 'exchange') return client.grant === 'client' ? { ...client.parameters } : omit(client.parameters, ['username', 'password', 'refresh_token', 'assertion'])
  const token = client.parameters['subject_token'] ?? subject
  if (token === undefined) throw authFailed(`No token for "${client.name}": the exchange needs the token of a caller`)
  return { grant_type: EXCHANGE_GRANT, subject_token_type: ACCESS_TOKEN_TYPE, ...client.parameters, subject_token: token }
}

async function authenticate(client: OAuthClient, tokenUrl: string, context: TokenRequestContext): Promise<{ id: string; secret: string; parts: RequestParts }> {
  const parts: RequestParts = { headers: { Accept: 'application/json', ...client.headers }, body: {}, query: {} }
  if (client.method === 'jwt') {
    suppressBasic(parts)
    const assertion = await signAssertion(client, client.assertion ?? { claims: {}, lifespan: 10 }, { ...context, tokenUrl })
    Object.assign(parts.body, { client_assertion_type: ASSERTION_TYPE, client_assertion: assertion })
    return { id: client.clientId, secret: '', parts }
  }
  const secret = (await client.secret())?.reveal() ?? ''
  if (client.method === 'basic') {
    const encode = client.encode ? formEncode : (text: string): string => text
    return { id: encode(client.clientId), secret: encode(secret), parts }
  }
  suppressBasic(parts)
  Object.assign(client.method === 'post' ? parts.body : parts.query, { client_id: client.clientId, client_secret: secret })
  return { id: client.clientId, secret, parts }
}

function suppressBasic(parts: RequestParts): void {
  Object.assign(parts.headers, { Authorization: undefined })
}

/** Encodes a text as a form does: RFC 6749 §2.3.1 asks for it before Basic. */
function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

function required(client: OAuthClient, name: string): string {
  const value = client.parameters[name]
  if (value !== undefined) return value
  throw authFailed(`No token for "${client.name}": grant-options.${client.grant}.${name} is not set`)
}

function omit(record: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)))
}

function toToken(client: OAuthClient, token: ClientOAuth2.Token, now: number): Token {
  const answer = token.data as unknown as TokenAnswer
  const refreshLife = toInstant(client, answer.refresh_expires_in, now)
  return {
    accessToken: answer.access_token,
    obtainedAt: now,
    expiresAt: toInstant(client, answer.expires_in, now) ?? now + client.defaultLife,
    ...(answer.refresh_token === undefined ? {} : { refreshToken: answer.refresh_token }),
    // Keycloak says 0 for a refresh token without end.
    ...(refreshLife === undefined || refreshLife <= now ? {} : { refreshExpiresAt: refreshLife }),
  }
}

function toInstant(client: OAuthClient, value: unknown, now: number): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined
  return client.absoluteExpiry ? seconds * 1000 : now + Math.max(0, seconds) * 1000
}
