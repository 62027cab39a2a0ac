import type { Logger } from '../common/index.ts'
import type { HttpRequest, HttpResponse } from './http-client.ts'

const SECRET_NAME = /authorization|cookie|token|secret|api-?key|password|credential/i
const BODY_LIMIT = 2048

/** Gives an address without user info, query and fragment, which may hold secrets (configuration.md §8). */
export function safeUrl(url: string): string {
  const path = url.replace(/[?#][\s\S]*$/, '')
  return path.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
}

/** Gives headers with the values of all that may be credentials as `***`. */
export function safeHeaders(headers: Readonly<Record<string, string>>, credentialHeaders: readonly string[] = []): Record<string, string> {
  const hidden = new Set(credentialHeaders.map((name) => name.toLowerCase()))
  return Object.fromEntries(Object.entries(headers).map(([name, value]) =>
    [name, SECRET_NAME.test(name) || hidden.has(name.toLowerCase()) ? '***' : value]))
}

/** Logs one exchange at DEBUG: redacted headers, bodies cut at 2 KiB, and no bodies where they hold tokens. */
export function traceExchange(log: Logger, exchange: {
  readonly client: string
  readonly request: HttpRequest
  readonly headers: Readonly<Record<string, string>>
  readonly response: HttpResponse
  readonly milliseconds: number
  readonly bodies: boolean
}): void {
  const { request, response } = exchange
  log.debug({
    client: exchange.client,
    purpose: request.purpose,
    method: request.method,
    url: safeUrl(request.url),
    requestHeaders: safeHeaders(exchange.headers, request.credentialHeaders),
    status: response.status,
    responseHeaders: safeHeaders(response.headers),
    milliseconds: exchange.milliseconds,
    ...(exchange.bodies ? { requestBody: cut(request.body), responseBody: cut(response.body) } : {}),
  }, 'HTTP call')
}

function cut(body: string | Uint8Array | undefined): string | undefined {
  if (body === undefined || body.length === 0) return undefined
  const head = typeof body === 'string' ? body.slice(0, BODY_LIMIT) : Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, BODY_LIMIT)).toString('utf8')
  return body.length > BODY_LIMIT ? `${head}… (${body.length} in all)` : head
}
