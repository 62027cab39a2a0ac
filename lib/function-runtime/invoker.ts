import type { Clock } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'
import { CallContext, type CallSurroundings } from './context.ts'
import { isHttpError } from './http-error.ts'
import type { ResolvedFunctionRuntimeOptions } from './options.ts'
import type { ResolvedFunction } from './resolve-functions.ts'

/** Calls handlers, bounds their time and knows which ones are running. */
export interface FunctionInvoker {
  /**
   * Calls the handler of a function with an input that was read already.
   *
   * @returns what the handler gave, not yet checked
   * @throws {@link FunctionError} `FUNCTION_FAILED` or `FUNCTION_TIMEOUT`; errors of `httpError` as they are
   */
  invoke(one: ResolvedFunction, input: unknown, surroundings: CallSurroundings): Promise<unknown>
  /** Waits until every handler has settled, at most the shutdown timeout; then aborts the signals of those left. */
  close(): Promise<void>
}

type Settled = { readonly value: unknown } | { readonly error: FunctionError }

/** Creates an invoker. */
export function createInvoker(options: ResolvedFunctionRuntimeOptions): FunctionInvoker {
  const { clock, timeout, shutdownTimeout } = options
  const running = new Set<CallContext>()
  let whenIdle: (() => void) | undefined

  const call = async (one: ResolvedFunction, input: unknown, context: CallContext): Promise<Settled> => {
    running.add(context)
    try {
      return { value: await one.handler(input, context) }
    } catch (error) {
      return { error: isHttpError(error) ? error : failed(one.name, error) }
    } finally {
      context.settle()
      running.delete(context)
      if (running.size === 0) whenIdle?.()
    }
  }

  return {
    async invoke(one, input, surroundings) {
      const context = new CallContext(one.name, surroundings.log ?? options.log, surroundings)
      const calling = call(one, input, context)
      const settled = await (timeout === undefined ? calling : withinTime(calling, context, { clock, timeout }))
      if ('error' in settled) throw settled.error
      return settled.value
    },
    close: () => new Promise((resolve) => {
      if (running.size === 0) {
        resolve()
        return
      }
      const cancel = clock.at(clock.now() + shutdownTimeout, () => {
        for (const context of running) context.abort('the runtime stops')
        resolve()
      })
      whenIdle = () => { cancel(); resolve() }
    }),
  }
}

/** Answers a call that takes longer than it may; the handler is told by its signal, and goes on until it settles. */
function withinTime(call: Promise<Settled>, context: CallContext, { clock, timeout }: { readonly clock: Clock; readonly timeout: number }): Promise<Settled> {
  return new Promise((resolve) => {
    let late = false
    const cancel = clock.at(clock.now() + timeout, () => {
      late = true
      const message = `Function ${context.name} took longer than ${String(timeout)} ms`
      context.abort(message)
      resolve({ error: new FunctionError({ code: 'FUNCTION_TIMEOUT', message, retryable: true }) })
    })
    void call.then((settled) => {
      cancel()
      if (late && 'error' in settled) context.log.error({ err: settled.error }, 'The function failed after its caller had been answered')
      resolve(settled)
    })
  })
}

function failed(name: string, error: unknown): FunctionError {
  const reason = error instanceof Error ? error.message : typeof error === 'string' ? error : 'it threw something that is no Error'
  return new FunctionError({ code: 'FUNCTION_FAILED', message: `Function ${name} failed: ${reason}`, cause: error })
}
