import { generateKeyPairSync } from 'node:crypto'
import type Provider from 'oidc-provider'
import type { ClientMetadata, KoaContextWithOIDC } from 'oidc-provider'
import { createRandomIdSource, createSystemClock } from '../../lib/common/index.ts'
import { startAuthorizationServer, type AuthorizationServer } from '../../lib/dev-services/index.ts'

/** An authorization server of tests: the one of dev services with every grant and client authentication that we speak. */
export interface OAuthServer extends AuthorizationServer {
  /** PKCS8 PEM of the key that client `by-key` proves itself with. */
  readonly privateKey: string
  /** Tokens that clients may exchange are those of this server; this makes one for a user. */
  issueUserToken(user: string): Promise<string>
  /** Tells for whom a token was issued; `undefined` when it is not valid. */
  describe(token: string): Promise<{ readonly clientId: string; readonly user?: string; readonly grant: string; readonly scope?: string } | undefined>
  /** Makes a token invalid. */
  revoke(token: string): Promise<void>
  /** Requests for tokens so far, by grant type. */
  readonly requests: string[]
}

export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** A secret that only works when it is encoded as RFC 6749 §2.3.1 says; this server keeps to its alphabet, which has no ü. */
export const AWKWARD_SECRET = 'a b:c%+/'

const GRANTS = ['client_credentials', 'password', 'refresh_token', EXCHANGE, JWT_BEARER]

/** Starts the server: clients `app` (basic), `app-post` (post), `awkward` (basic), `by-secret` (client_secret_jwt), `by-key` (private_key_jwt). */
export async function startOAuthServer(options: { readonly tokenLife?: number } = {}): Promise<OAuthServer> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const client = (id: string, method: NonNullable<ClientMetadata['token_endpoint_auth_method']>, rest: Partial<ClientMetadata> = {}): ClientMetadata => ({
    client_id: id, token_endpoint_auth_method: method, grant_types: GRANTS, redirect_uris: [], response_types: [], client_secret: 'x'.repeat(40), ...rest,
  })
  const requests: string[] = []
  let provider: Provider | undefined
  const server = await startAuthorizationServer({
    clock: createSystemClock(),
    ids: createRandomIdSource(),
    clientId: 'app',
    clientSecret: 'marked-client-secret',
    ...(options.tokenLife === undefined ? {} : { tokenLife: options.tokenLife }),
    clients: [
      client('all', 'client_secret_basic', { client_secret: 'marked-client-secret' }),
      client('awkward', 'client_secret_basic', { client_secret: AWKWARD_SECRET }),
      client('by-secret', 'client_secret_jwt', { token_endpoint_auth_signing_alg: 'HS256' }),
      client('by-key', 'private_key_jwt', { token_endpoint_auth_signing_alg: 'ES256', jwks: { keys: [pair.publicKey.export({ format: 'jwk' })] } }),
    ],
    configuration: {
      ttl: { ClientCredentials: () => options.tokenLife ?? 600, AccessToken: 600, RefreshToken: 1800, Grant: 1800, IdToken: 600 },
      scopes: ['openid', 'offline_access', 'read', 'write'],
      findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
      issueRefreshToken: () => Promise.resolve(true),
      rotateRefreshToken: false,
    },
    configure(made) {
      provider = made
      made.use(async (context, next) => {
        await next()
        const params = (context as Partial<KoaContextWithOIDC>).oidc?.params
        if (params?.['grant_type'] !== undefined) requests.push(String(params['grant_type']))
      })
      registerGrants(made)
    },
  })
  const running = provider as unknown as Provider
  return {
    ...server,
    requests,
    privateKey: String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    async issueUserToken(user) {
      const owner = await running.Client.find('all')
      if (!owner) throw new Error('client "all" is missing')
      return (await issue(running, owner, user, 'login')).access
    },
    async describe(token) {
      const found = (await running.AccessToken.find(token)) ?? (await running.ClientCredentials.find(token))
      if (!found) return undefined
      const user = 'accountId' in found ? found.accountId : undefined
      return { clientId: found.clientId ?? '', grant: ('gty' in found ? found.gty : undefined) ?? 'client_credentials', ...(user === undefined ? {} : { user }), ...(found.scope === undefined ? {} : { scope: found.scope }) }
    },
    async revoke(token) {
      await (await running.AccessToken.find(token))?.destroy()
      await (await running.ClientCredentials.find(token))?.destroy()
    },
  }
}

type OAuthClient = NonNullable<Awaited<ReturnType<Provider['Client']['find']>>>

async function issue(provider: Provider, client: OAuthClient, user: string, gty: string): Promise<{ access: string; refresh: string }> {
  const grant = new provider.Grant({ accountId: user, clientId: client.clientId })
  grant.addOIDCScope('openid offline_access read write')
  const grantId = await grant.save()
  const common = { accountId: user, client, grantId, gty, scope: 'openid offline_access' }
  const access = await new provider.AccessToken(common).save()
  const refresh = await new provider.RefreshToken(common).save()
  return { access, refresh }
}

// The types describe release 9, whose handlers take one argument; release 8 hands over the next middleware too.
interface GrantContext {
  readonly oidc: { readonly client?: OAuthClient; readonly params?: Readonly<Record<string, unknown>> }
  status: number
  body: unknown
}
type RegisterGrantType = (name: string, handler: (context: GrantContext, next: () => Promise<void>) => Promise<void>, parameters: string[]) => void

function registerGrants(provider: Provider): void {
  const registerGrantType = provider.registerGrantType.bind(provider) as unknown as RegisterGrantType
  const register = (grant: string, parameters: readonly string[], userOf: (params: Readonly<Record<string, unknown>>) => Promise<string | undefined>): void => {
    registerGrantType(grant, async (context, next) => {
      const { client, params } = context.oidc
      const user = client && (await userOf(params ?? {}))
      if (!client || user === undefined) {
        context.status = 400
        context.body = { error: 'invalid_grant', error_description: 'the grant is not accepted' }
      } else {
        const { access, refresh } = await issue(provider, client, user, grant === 'password' ? 'password' : grant.slice(grant.lastIndexOf(':') + 1))
        context.body = { access_token: access, token_type: 'Bearer', expires_in: 600, refresh_token: refresh, refresh_expires_in: 1800 }
      }
      await next()
    }, [...parameters])
  }
  register('password', ['username', 'password', 'scope'], ({ username, password }) => Promise.resolve(username === 'joe' && password === 'marked-user-password' ? 'joe' : undefined))
  register(EXCHANGE, ['subject_token', 'subject_token_type', 'audience', 'requested_token_type'], async ({ subject_token: token, subject_token_type: type }) =>
    (type === 'urn:ietf:params:oauth:token-type:access_token' ? (await provider.AccessToken.find(String(token)))?.accountId : undefined))
  register(JWT_BEARER, ['assertion', 'scope'], ({ assertion }) => Promise.resolve(assertion === 'marked-assertion' ? 'asserted' : undefined))
}
