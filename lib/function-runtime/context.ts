import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'
import type { FunctionContext } from './define-function.ts'
import type { ReceivedEvent } from './event.ts'

/** What a call brings along; everything is optional for calls within the process. */
export interface CallSurroundings {
  readonly headers?: Readonly<IncomingHttpHeaders>
  /** @default that of the runtime */
  readonly log?: Logger
  /** Makes the incoming event; called at most once. */
  readonly event?: () => ReceivedEvent<unknown>
  /**
   * Calls back when the caller leaves. Asked for only when a handler looks at its signal, so that other calls cost nothing.
   *
   * @returns ends the listening
   */
  readonly onCallerLeft?: (callback: () => void) => () => void
}

const NO_HEADERS: IncomingHttpHeaders = Object.freeze({})

/** The context of one call; log, event and signal are made when a handler asks for them. */
export class CallContext implements FunctionContext {
  readonly name: string
  readonly #log: Logger
  readonly #surroundings: CallSurroundings
  #controller: AbortController | undefined
  #aborted: FunctionError | undefined
  #stopListening: (() => void) | undefined
  #ownLog: Logger | undefined
  #event: ReceivedEvent<unknown> | undefined

  constructor(name: string, log: Logger, surroundings: CallSurroundings) {
    this.name = name
    this.#log = log
    this.#surroundings = surroundings
  }

  get headers(): Readonly<IncomingHttpHeaders> {
    return this.#surroundings.headers ?? NO_HEADERS
  }

  get log(): Logger {
    return this.#ownLog ??= this.#log.child({ function: this.name })
  }

  get event(): ReceivedEvent<unknown> | undefined {
    return this.#event ??= this.#surroundings.event?.()
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted === undefined) {
        this.#stopListening = this.#surroundings.onCallerLeft?.(() => { this.abort('the caller left') })
      } else {
        this.#controller.abort(this.#aborted)
      }
    }
    return this.#controller.signal
  }

  /** Aborts the signal; the reason that the handler sees is a {@link FunctionError} with this text. */
  abort(reason: string): void {
    this.#aborted ??= new FunctionError({ code: 'FUNCTION_FAILED', message: `Function ${this.name} was stopped: ${reason}` })
    this.#controller?.abort(this.#aborted)
  }

  /** Ends listening for the caller; called when the handler has settled. */
  settle(): void {
    this.#stopListening?.()
  }
}
