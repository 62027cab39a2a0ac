import { createRequire } from 'node:module'
import type * as Cockatiel from 'cockatiel'
import type { IBackoffFactory, IPolicy, IRetryBackoffContext } from 'cockatiel'
import { toAbortSignal } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'
import { refusal } from './failure.ts'
import type { HttpRequest, HttpResponse } from './http-client.ts'
import type { ResilienceOptions } from './options.ts'
import { toPairs } from './redirect.ts'

// Read for the first client that wants any of it.
const library = (): typeof Cockatiel => createRequire(import.meta.url)('cockatiel') as typeof Cockatiel

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504])
const IDEMPOTENT = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])

/** Sends one request. */
export type Send = (request: HttpRequest) => Promise<HttpResponse>

/** Tells whether repeating a method does no harm (RFC 9110 §9.2.2). */
export function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method)
}

/**
 * Puts retries, circuit breaker and bulkhead around a sender; each is off unless its option says otherwise, and without any
 * the sender itself is given back (decisions.md 12).
 */
export function withResilience(client: string, send: Send, options: Partial<ResilienceOptions> | undefined): Send {
  const { retries = 0, breakerFailures = 0, breakerDelay = 5000, maxConcurrent = 0, maxWaiting = 10 } = options ?? {}
  if (retries === 0 && breakerFailures === 0 && maxConcurrent === 0) return send
  const { bulkhead, BulkheadRejectedError, BrokenCircuitError, circuitBreaker, ConsecutiveBreaker, handleWhen, noop, wrap } = library()
  const breaker: IPolicy = breakerFailures > 0
    ? circuitBreaker(handleWhen(isOutage).orWhenResult(isServerFault), { halfOpenAfter: breakerDelay, breaker: new ConsecutiveBreaker(breakerFailures) })
    : noop
  const gate: IPolicy = maxConcurrent > 0 ? bulkhead(maxConcurrent, maxWaiting) : noop
  const guarded = wrap(breaker, gate)
  const repeated = retries > 0 ? wrap(createRetry(options ?? {}, retries), guarded) : guarded
  return async (request) => {
    const policy = isIdempotent(request.method) || hasIdempotencyKey(request) ? repeated : guarded
    try {
      return await policy.execute(() => send(request), request.signal === undefined ? undefined : toAbortSignal(request.signal))
    } catch (error) {
      if (error instanceof BrokenCircuitError) throw refusal(client, request.purpose, 'too many calls failed before; the circuit is open', true)
      if (error instanceof BulkheadRejectedError) throw refusal(client, request.purpose, 'too many calls run at the same time (bulkhead)', true)
      throw error
    }
  }
}

function createRetry(options: Partial<ResilienceOptions>, retries: number): IPolicy {
  const { retryDelay = 200, maxRetryDelay = 10_000 } = options
  const { ExponentialBackoff, handleWhen, retry } = library()
  const growing = new ExponentialBackoff({ initialDelay: retryDelay, maxDelay: maxRetryDelay })
  return retry(handleWhen(isOutage).orWhenResult((result) => RETRYABLE.has((result as HttpResponse).status)), {
    maxAttempts: retries,
    backoff: honourRetryAfter(growing, maxRetryDelay),
  })
}

// What the callee asks for counts, up to the longest pause.
function honourRetryAfter(steps: IBackoffFactory<unknown>, longest: number): IBackoffFactory<IRetryBackoffContext<unknown>> {
  return {
    next(context) {
      const step = steps.next(context)
      const asked = 'value' in context.result ? retryAfter(context.result.value as HttpResponse) : undefined
      return { duration: Math.min(longest, asked ?? step.duration), next: (later) => honourRetryAfter(step, longest).next(later) }
    },
  }
}

function retryAfter(response: HttpResponse): number | undefined {
  const seconds = Number(response.headers['retry-after'])
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined
}

function isOutage(error: Error): boolean {
  return error instanceof FunctionError && error.retryable
}

function isServerFault(result: unknown): boolean {
  return (result as HttpResponse).status >= 500
}

function hasIdempotencyKey(request: HttpRequest): boolean {
  return toPairs(request.headers).some(([name]) => name.toLowerCase() === 'idempotency-key')
}
