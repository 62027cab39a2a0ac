import type { Clock, IdSource, Logger } from '../common/index.ts'
import { settingKey, type Settings } from '../configuration/index.ts'
import type { HttpClients } from '../http-client/index.ts'
import type { SecurityScheme } from './authorization.ts'
import type { CredentialsProvider } from './credentials-provider.ts'
import type { OAuthClient } from './oauth-client.ts'
import { readOAuthClient } from './read-oauth-client.ts'
import type { OpenedSource, OpenTokenSource } from './schemes.ts'
import { createTokenSource, type TokenSource, type TokenSourceOptions } from './token-source.ts'

/** What token sources are made from. */
export interface TokenSourcesOptions {
  readonly settings: Settings
  readonly clients: HttpClients
  readonly clock: Clock
  readonly ids: IdSource
  /** Credentials providers of the host, by name. */
  readonly credentialsProviders?: Readonly<Record<string, CredentialsProvider>>
}

/** The token sources of a process: one for each client and authorization server. */
export interface TokenSources {
  readonly open: OpenTokenSource
  /** Stops background renewal and forgets all tokens. */
  readonly close: () => void
}

interface Messages {
  readonly log: Logger
  readonly warnOnce: (message: string) => void
}

/** Creates the token sources; each is opened by the first scheme that needs it (configuration.md §4, §5). */
export function createTokenSources({ settings, clients, clock, ids, credentialsProviders: providers = {} }: TokenSourcesOptions, { log, warnOnce }: Messages): TokenSources {
  const sources = new Map<string, OpenedSource>()
  const start = (client: OAuthClient, isEarly: boolean): OpenedSource => {
    if (client.method === 'query') warnOnce(`The client "${client.name}" sends its secret in the query of the token address, where logs of servers and proxies keep it; prefer credentials.client-secret.method=basic or post`)
    const source = createTokenSource({ client, httpClient: clients.forScheme(client.name), clock, ids, log, ...renewalOf(client, settings) })
    if (isEarly && client.grant !== 'exchange') fetchEarly(source, client.name, log)
    return { source, subject: client.grant === 'exchange' ? 'required' : client.grant === 'jwt' ? 'optional' : 'none' }
  }
  return {
    open(scheme, schemeKey, security) {
      const key = settingKey('sonatina.oidc-client', schemeKey)
      // The token address may come from the document, so two documents with one scheme name may mean two servers.
      const documentTokenUrl = findTokenUrl(scheme, security.base, settings.text(`${key}.grant.type`, 'client'))
      const id = `${schemeKey} ${documentTokenUrl ?? scheme.openIdConnectUrl ?? ''}`
      const known = sources.get(id)
      if (known) return known
      const httpClient = clients.forScheme(schemeKey)
      const read = readOAuthClient(schemeKey, { settings, providers, httpClient, clock, documentTokenUrl, documentDiscoveryUrl: scheme.openIdConnectUrl })
      if ('missing' in read) return read
      const opened = start(read.client, settings.boolean(`${key}.early-tokens-acquisition`, false))
      sources.set(id, opened)
      return opened
    },
    close() {
      for (const { source } of sources.values()) source.close()
      sources.clear()
    },
  }
}

/** Exchanged tokens are renewed in the background where that is asked for. */
function renewalOf({ name, grant }: OAuthClient, settings: Settings): Pick<TokenSourceOptions, 'proactive'> {
  const key = `${settingKey('sonatina.security.auth', name)}.token-exchange`
  if (grant !== 'exchange' || !settings.boolean(`${key}.enabled`, false)) return {}
  return {
    proactive: {
      before: settings.duration(`${key}.proactive-refresh-seconds`, 300_000),
      every: settings.duration('sonatina.security.auth.token-exchange.monitor-rate-seconds', 60_000),
    },
  }
}

function findTokenUrl(scheme: SecurityScheme, base: string | undefined, grant: string): string | undefined {
  const flows = scheme.flows ?? {}
  const fitting = grant === 'password' ? flows['password'] : flows['clientCredentials']
  const url = fitting?.tokenUrl ?? Object.values(flows).find((flow) => flow?.tokenUrl !== undefined && flow.tokenUrl !== '')?.tokenUrl ?? scheme.tokenUrl
  if (url === undefined || url === '' || !URL.canParse(url, base)) return undefined
  return new URL(url, base).href
}

function fetchEarly(source: TokenSource, schemeKey: string, log: Logger): void {
  Promise.resolve(source.token()).catch((error: unknown) => {
    log.warn({ client: schemeKey, reason: error instanceof Error ? error.message : String(error) }, 'No token could be fetched at start')
  })
}
