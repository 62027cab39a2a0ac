/** Tells that work is given up: what an `AbortSignal` is asked for inside. */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  /** The same for others, where it is not itself an `AbortSignal`. */
  readonly signal?: AbortSignal
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * Gives work up. An `AbortController` with its event target costs more than a call of a host function does: it is made when somebody
 * outside asks for its signal.
 */
export class Cancellation implements CancelSignal {
  #listeners: (() => void)[] | undefined
  #controller: AbortController | undefined
  aborted = false
  reason: unknown = undefined

  /** The same as an `AbortSignal`. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }

  /** Listeners are told once, in their order; those that come later never. */
  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    for (const listener of listeners) listener()
    this.#controller?.abort(reason)
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) (this.#listeners ??= []).push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1
    if (at >= 0) this.#listeners?.splice(at, 1)
  }
}

/** Gives the signal as others want it. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  return signal.signal ?? signal as AbortSignal
}
