import { createRandomIdSource, createSystemClock, silentLogger, type Clock, type IdSource, type Logger } from '../common/index.ts'
import { startAcme } from './acme.ts'
import { startAuthorizationServer } from './authorization-server.ts'

/** What dev services are made from. */
export interface DevServicesOptions {
  /** @default 0, a free one */
  readonly oauthPort?: number
  /** @default 0, a free one */
  readonly acmePort?: number
  /** @default 'kogito-app', as in SonataFlow's example */
  readonly clientId?: string
  /** @default 'secret' */
  readonly clientSecret?: string
  /** Life of a token in seconds. @default 600 */
  readonly tokenLife?: number
  readonly clock?: Clock
  readonly ids?: IdSource
  readonly log?: Logger
}

/** The running services. */
export interface DevServices {
  readonly authorizationServer: { readonly url: string; readonly tokenUrl: string; readonly clientId: string; readonly clientSecret: string }
  readonly acme: { readonly url: string }
  close(): Promise<void>
}

/**
 * Starts what the reference workflow needs to run for real, on loopback: an OAuth 2.0 authorization server and the Acme
 * exchange-rate service that accepts only its tokens (decisions.md 10).
 *
 * @throws {@link HostError} when a port is taken.
 */
export async function startDevServices(options: DevServicesOptions = {}): Promise<DevServices> {
  const clock = options.clock ?? createSystemClock()
  const server = await startAuthorizationServer({
    clock,
    ids: options.ids ?? createRandomIdSource(),
    port: options.oauthPort ?? 0,
    clientId: options.clientId ?? 'kogito-app',
    clientSecret: options.clientSecret ?? 'secret',
    ...(options.tokenLife === undefined ? {} : { tokenLife: options.tokenLife }),
  })
  try {
    const { url, tokenUrl, clientId, clientSecret } = server
    const acme = await startAcme({
      clock,
      log: options.log ?? silentLogger,
      port: options.acmePort ?? 0,
      introspection: { url: server.introspectionUrl, clientId, clientSecret },
    })
    return {
      authorizationServer: { url, tokenUrl, clientId, clientSecret },
      acme: { url: acme.url },
      async close() { await Promise.all([acme.close(), server.close()]) },
    }
  } catch (error) {
    await server.close()
    throw error
  }
}
