import { createLogger, createRandomIdSource, createSystemClock, type Clock } from '../../../lib/common/index.ts'
import { createAuthorizer, type Authorization, type AuthorizedRequest, type Authorizer, type CredentialsProvider, type OperationSecurity } from '../../../lib/auth/index.ts'
import type { Settings, SettingsOptions } from '../../../lib/configuration/index.ts'
import { FunctionError } from '../../../lib/errors/index.ts'
import { createHttpClients, type HttpClients } from '../../../lib/http-client/index.ts'
import { read } from '../configuration/support.ts'

/** An authorizer with what it stands on, and everything it logs. */
export interface Bench {
  readonly authorizer: Authorizer
  readonly clients: HttpClients
  readonly settings: Settings
  readonly lines: string[]
  close(): Promise<void>
}

/** Makes an authorizer from the text of an `application.properties`. */
export async function createBench(properties: string, options: { readonly clock?: Clock; readonly settings?: SettingsOptions; readonly credentialsProviders?: Readonly<Record<string, CredentialsProvider>> } = {}): Promise<Bench> {
  const lines: string[] = []
  const log = createLogger({ level: 'trace', write: (line) => { lines.push(line) } })
  const settings = await read({ 'application.properties': `${properties}\nsonatina.log.level=TRACE` }, options.settings)
  const clock = options.clock ?? createSystemClock()
  const clients = createHttpClients({ settings, clock, log })
  const authorizer = createAuthorizer({ settings, clients, clock, ids: createRandomIdSource(), log, ...(options.credentialsProviders ? { credentialsProviders: options.credentialsProviders } : {}) })
  return { authorizer, clients, settings, lines, async close() { authorizer.close(); await clients.close() } }
}

/** What `exchangeRate` of the reference document asks for. */
export function acmeSecurity(tokenUrl: string, changes: Partial<OperationSecurity> = {}): OperationSecurity {
  return {
    fileKey: 'acme_financial_service_yml', document: 'specs/acme-financial-service.yml', operation: 'exchangeRate',
    security: [{ 'acme-financial-oauth': [] }],
    schemes: { 'acme-financial-oauth': { type: 'oauth2', flows: { clientCredentials: { tokenUrl } } } },
    ...changes,
  }
}

/** An empty request. */
export function emptyRequest(): AuthorizedRequest {
  return { headers: {}, query: {}, cookies: {} }
}

/** Applies credentials to a new request. */
export async function apply(authorization: Authorization | undefined, headers: Readonly<Record<string, string>> = {}): Promise<AuthorizedRequest> {
  const request = emptyRequest()
  await authorization?.apply(request, { headers })
  return request
}

/** Gives the bearer token that an authorization puts into a request. */
export async function tokenOf(authorization: Authorization | undefined, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  return (await apply(authorization, headers)).headers['Authorization']?.replace('Bearer ', '') ?? ''
}

/** Gives the `AUTH_FAILED` that a promise ends with. */
export async function authFailure(promise: Promise<unknown>): Promise<FunctionError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof FunctionError && error.code === 'AUTH_FAILED') return error
    throw error
  }
  throw new Error('no AUTH_FAILED')
}
