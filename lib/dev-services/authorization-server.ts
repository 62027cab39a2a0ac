import { generateKeyPairSync } from 'node:crypto'
import type { RequestListener } from 'node:http'
import type Provider from 'oidc-provider'
import type { ClientMetadata, Configuration } from 'oidc-provider'
import type { Clock, IdSource } from '../common/index.ts'
import { listen, type Listening } from './listen.ts'
import { createTokenStore } from './token-store.ts'

/** What the authorization server of dev services is made from. */
export interface AuthorizationServerOptions {
  readonly clock: Clock
  readonly ids: IdSource
  /** @default 0, a free one */
  readonly port?: number
  readonly clientId: string
  readonly clientSecret: string
  /** Further clients. */
  readonly clients?: readonly ClientMetadata[]
  /** Seconds. @default 600 */
  readonly tokenLife?: number
  /** Changes the provider before it listens: further grants. */
  readonly configure?: (provider: Provider) => void
  /** Overrides of the provider's configuration. */
  readonly configuration?: Configuration
}

/** A running authorization server. */
export interface AuthorizationServer extends Listening {
  readonly tokenUrl: string
  readonly introspectionUrl: string
  readonly clientId: string
  readonly clientSecret: string
}

// Where Keycloak has it, so that the settings of a SonataFlow project find it when the port is set too.
const TOKEN_PATH = '/auth/realms/kogito/protocol/openid-connect/token'
const INTROSPECTION_PATH = `${TOKEN_PATH}/introspect`

/**
 * Starts a real OAuth 2.0 authorization server (oidc-provider) on loopback with the client-credentials grant.
 *
 * The package is imported here and not at start-up: only dev services need it.
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const { default: OidcProvider } = await import('oidc-provider')
  let handle: RequestListener = (_request, response) => { response.end() }
  const server = await listen((request, response) => { handle(request, response) }, options.port ?? 0)
  const provider = new OidcProvider(server.url, createConfiguration(options))
  options.configure?.(provider)
  const callback = provider.callback()
  handle = (request, response) => { void callback(request, response) }
  return {
    ...server,
    tokenUrl: `${server.url}${TOKEN_PATH}`,
    introspectionUrl: `${server.url}${INTROSPECTION_PATH}`,
    clientId: options.clientId,
    clientSecret: options.clientSecret,
  }
}

const FEATURES: NonNullable<Configuration['features']> = {
  clientCredentials: { enabled: true },
  // Any client that proves itself may ask: there is one user here, the developer.
  introspection: { enabled: true, allowedPolicy: () => true },
  devInteractions: { enabled: false },
}

function createConfiguration(options: AuthorizationServerOptions): Configuration {
  const client = (id: string, method: 'client_secret_basic' | 'client_secret_post'): ClientMetadata => ({
    client_id: id,
    client_secret: options.clientSecret,
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: method,
  })
  return {
    adapter: createTokenStore(options.clock),
    clients: [client(options.clientId, 'client_secret_basic'), client(`${options.clientId}-post`, 'client_secret_post'), ...(options.clients ?? [])],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    jwks: { keys: [createSigningKey(options.ids)] },
    cookies: { keys: [options.ids.next()] },
    routes: { token: TOKEN_PATH, introspection: INTROSPECTION_PATH },
    ttl: { ClientCredentials: () => options.tokenLife ?? 600 },
    ...options.configuration,
    features: { ...FEATURES, ...options.configuration?.features } as NonNullable<Configuration['features']>,
  }
}

function createSigningKey(ids: IdSource): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: ids.next() }
}
