import type { Dispatcher } from 'undici'
import { Arrivals, type Cancel, type CancelSignal, type Clock } from '../common/index.ts'
import { refusal, timeoutError, toFunctionError } from './failure.ts'
import type { OriginPool } from './pools.ts'

/** The limits of one exchange. */
export interface ExchangeOptions {
  readonly client: string
  readonly purpose: string | undefined
  readonly clock: Clock
  readonly readTimeout: number
  /** Instant at which the whole call ends. */
  readonly deadline: number
  readonly maxResponseSize: number
  readonly signal: CancelSignal | undefined
  /** What the request counts in as long as undici holds it. */
  readonly pool: Pick<OriginPool, 'active'>
}

/** What came back, body still as it was sent. */
export interface RawResponse {
  readonly status: number
  readonly statusMessage: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Buffer
}

const MAX_HEADERS = 100
const EMPTY = Buffer.alloc(0)

const answers = new Arrivals<Exchange>((exchange) => { exchange.deliver() })

/**
 * One request and its answer on a pool.
 *
 * Written against undici's handler interface, because streams and abort signals of its `request` cost more than the call itself.
 * A single timer watches both silence and total time: chunks only note the instant.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Whether bytes of the request may have been sent. */
  sent = false
  /** Whether the answer began. */
  answered = false
  readonly #options: ExchangeOptions
  readonly #resolve: (response: RawResponse) => void
  readonly #reject: (error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #held = true
  #settled = false
  #failure: Error | undefined
  #lastActivity: number
  #cancelTimer: Cancel
  #status = 0
  #statusMessage = ''
  #headers: Record<string, string | string[] | undefined> = {}
  #chunks: Buffer[] = []
  #size = 0

  constructor(options: ExchangeOptions, resolve: (response: RawResponse) => void, reject: (error: unknown) => void) {
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    options.pool.active++
    this.#lastActivity = options.clock.now()
    this.#cancelTimer = this.#watch()
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#failure) {
      controller.abort(this.#failure)
      return
    }
    this.sent = true
    this.#lastActivity = this.#options.clock.now()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>, message?: string): void {
    this.answered = true
    this.#lastActivity = this.#options.clock.now()
    if (status < 200) return
    if (Object.keys(headers).length > MAX_HEADERS) {
      this.#fail(this.#refusal(`the answer has more than ${MAX_HEADERS} headers`))
      return
    }
    const length = headers['content-length']
    if (typeof length === 'string' && Number(length) > this.#options.maxResponseSize && headers['content-encoding'] === undefined) {
      this.#fail(this.#tooLarge())
      return
    }
    this.#status = status
    this.#statusMessage = message ?? ''
    this.#headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#lastActivity = this.#options.clock.now()
    this.#size += chunk.length
    if (this.#size > this.#options.maxResponseSize) this.#fail(this.#tooLarge())
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#release()
    if (this.#settled) return
    this.#settle()
    answers.add(this)
  }

  /** Hands the whole answer over. */
  deliver(): void {
    const first = this.#chunks[0]
    const body = this.#chunks.length === 1 && first ? first : this.#chunks.length === 0 ? EMPTY : Buffer.concat(this.#chunks, this.#size)
    this.#resolve({ status: this.#status, statusMessage: this.#statusMessage, headers: this.#headers, body })
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#release()
    if (this.#settled) return
    this.#settle()
    this.#reject(error)
  }

  /** Undici no longer holds the request. */
  #release(): void {
    if (this.#held) this.#options.pool.active--
    this.#held = false
  }

  readonly #onAbort = (): void => {
    this.#fail(toFunctionError(this.#options.client, this.#options.purpose, Object.assign(new Error('cancelled', { cause: this.#options.signal?.reason }), { code: 'ABORT_ERR' })))
  }

  #watch(): Cancel {
    const { clock, deadline, readTimeout } = this.#options
    return clock.at(Math.min(deadline, this.#lastActivity + readTimeout), () => {
      const now = clock.now()
      if (now >= deadline) this.#fail(timeoutError(this.#options.client, this.#options.purpose, 'the answer was not complete in time'))
      else if (now >= this.#lastActivity + readTimeout) this.#fail(timeoutError(this.#options.client, this.#options.purpose, `the server was silent for ${readTimeout} ms`))
      else this.#cancelTimer = this.#watch()
    })
  }

  #fail(error: Error): void {
    if (this.#settled) return
    this.#failure = error
    this.#settle()
    this.#chunks = []
    this.#reject(error)
    this.#controller?.abort(error)
  }

  #settle(): void {
    this.#settled = true
    this.#cancelTimer()
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
  }

  #tooLarge(): Error {
    return this.#refusal(`the answer is larger than ${this.#options.maxResponseSize} bytes (max-response-size)`)
  }

  #refusal(what: string): Error {
    return refusal(this.#options.client, this.#options.purpose, what)
  }
}
