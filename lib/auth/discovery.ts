import { compact, type Clock } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'
import type { HttpClient } from '../http-client/index.ts'
import { authFailed } from './failure.ts'

/** What a discovery document says (OpenID Connect Discovery 1.0 §3), as far as we use it. */
export interface ProviderMetadata {
  readonly issuer?: string
  readonly tokenEndpoint?: string
  readonly jwksUri?: string
}

/** What discovery needs from outside. */
interface DiscoveryContext {
  readonly httpClient: HttpClient
  readonly clock: Clock
}

const FIRST_PAUSE = 1000
const LONGEST_PAUSE = 30_000

/** Gives the address of the discovery document of an issuer. */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
}

/**
 * Makes a reader of a discovery document: read once, kept for ever; after a failure the next call tries again, but not before a
 * pause that grows from 1 s to 30 s.
 *
 * The reader throws {@link FunctionError} `AUTH_FAILED`.
 */
export function createDiscovery(name: string, url: string, { httpClient, clock }: DiscoveryContext): () => Promise<ProviderMetadata> {
  let known: Promise<ProviderMetadata> | undefined
  let failure: { readonly error: FunctionError; readonly until: number } | undefined
  let pause = FIRST_PAUSE
  return () => {
    if (known) return known
    if (failure && clock.now() < failure.until) return Promise.reject(failure.error)
    known = read(name, url, httpClient).catch((error: unknown) => {
      known = undefined
      failure = { error: error as FunctionError, until: clock.now() + pause }
      pause = Math.min(pause * 2, LONGEST_PAUSE)
      throw error
    })
    return known
  }
}

async function read(name: string, url: string, httpClient: HttpClient): Promise<ProviderMetadata> {
  try {
    const response = await httpClient.request({ method: 'GET', url, headers: { Accept: 'application/json' }, purpose: 'discovery' })
    if (response.status !== 200) throw authFailed(`No token for "${name}": discovery answered status ${response.status}`, { retryable: response.status >= 500 })
    const document: unknown = JSON.parse(Buffer.from(response.body).toString('utf8'))
    const field = (key: string): string | undefined => {
      const value: unknown = typeof document === 'object' && document !== null ? (document as Record<string, unknown>)[key] : undefined
      return typeof value === 'string' && value !== '' ? value : undefined
    }
    return compact({ issuer: field('issuer'), tokenEndpoint: field('token_endpoint'), jwksUri: field('jwks_uri') })
  } catch (error) {
    if (error instanceof FunctionError && error.code === 'AUTH_FAILED') throw error
    const why = error instanceof FunctionError ? error.message : 'the answer is not JSON'
    throw authFailed(`No token for "${name}": discovery failed: ${why}`, { retryable: error instanceof FunctionError && error.retryable, cause: error })
  }
}
