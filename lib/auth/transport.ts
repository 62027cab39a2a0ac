import type { Clock } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'
import type { HttpClient, HttpResponse } from '../http-client/index.ts'
import { authFailed, safeText } from './failure.ts'
import type { OAuthClient } from './oauth-client.ts'

/** The request function that client-oauth2 takes as its second constructor argument. */
export type Transport = (method: string, url: string, body: string, headers: Readonly<Record<string, string | string[] | undefined>>) => Promise<{ status: number; body: string }>

/** An answer of the token endpoint with standard names. */
export interface TokenAnswer {
  readonly access_token: string
  readonly refresh_token?: string
  readonly expires_in?: unknown
  readonly refresh_expires_in?: unknown
}

const LONGEST_RETRY_AFTER = 5
// RFC 6750 §2.1: anything else could end the header and begin another.
const B64_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

/**
 * Makes the transport of token requests: ours instead of the client's own, so that proxies, TLS, timeouts, limits and redaction
 * apply (configuration.md §4).
 *
 * Drops undefined headers, follows no redirect, repeats once on 429/503 with `Retry-After` up to 5 s, and lets only answers
 * through that hold a usable bearer token, under their standard names.
 */
export function createTransport(client: OAuthClient, httpClient: HttpClient, clock: Clock): Transport {
  return async (method, url, body, headers) => {
    const request = { method, url, body, headers: toFields(headers), purpose: 'token request', redirects: { follow: false } }
    let response = await send(client, () => httpClient.request(request))
    const wait = response.status === 429 || response.status === 503 ? Number(response.headers['retry-after'] ?? Number.NaN) : Number.NaN
    if (wait >= 0 && wait <= LONGEST_RETRY_AFTER) {
      await new Promise<void>((resolve) => { clock.at(clock.now() + wait * 1000, resolve) })
      response = await send(client, () => httpClient.request(request))
    }
    return { status: 200, body: JSON.stringify(readAnswer(client, response)) }
  }
}

async function send(client: OAuthClient, call: () => Promise<HttpResponse>): Promise<HttpResponse> {
  try {
    return await call()
  } catch (error) {
    const reason = error instanceof FunctionError ? error.message.replace(/^The call to "[^"]*" \([^)]*\) failed: /, '') : 'the request could not be made'
    throw authFailed(`No token for "${client.name}": the authorization server did not answer: ${reason}`, {
      retryable: error instanceof FunctionError && error.retryable,
      cause: error,
    })
  }
}

function toFields(headers: Readonly<Record<string, string | string[] | undefined>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : (Array.isArray(value) ? value : [value]).map((item) => [name, item]))
}

function readAnswer(client: OAuthClient, response: HttpResponse): TokenAnswer {
  const answer = parse(response.body)
  if (response.status < 200 || response.status > 299 || answer === undefined || answer['error'] !== undefined) throw refused(client, response.status, answer)
  const { names } = client
  const token = answer[names.accessToken]
  if (typeof token !== 'string' || token === '') throw authFailed(`No token for "${client.name}": the answer of the authorization server holds no "${names.accessToken}"`)
  if (!B64_TOKEN.test(token)) throw authFailed(`No token for "${client.name}": the token holds characters that RFC 6750 does not allow`)
  const type = answer['token_type']
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
    throw authFailed(`No token for "${client.name}": the token type is "${safeText(type)}", only Bearer is supported`)
  }
  const refresh = answer[names.refreshToken]
  return {
    access_token: token,
    expires_in: answer[names.expiresIn],
    refresh_expires_in: answer[names.refreshExpiresIn],
    ...(typeof refresh === 'string' && refresh !== '' ? { refresh_token: refresh } : {}),
  }
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function refused(client: OAuthClient, status: number, answer: Readonly<Record<string, unknown>> | undefined): FunctionError {
  const error = safeText(answer?.['error'])
  const description = safeText(answer?.['error_description'])
  const what = error === '' ? (answer === undefined ? `status ${status}, not JSON` : `status ${status}`) : `${error}${description === '' ? '' : `: ${description}`}`
  return authFailed(`No token for "${client.name}": the authorization server answered ${what}`, {
    retryable: status >= 500 || status === 429,
    details: { status, ...(error === '' ? {} : { error }) },
  })
}
