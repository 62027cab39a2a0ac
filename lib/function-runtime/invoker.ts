import type { Logger } from '../common/index.ts'
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
  invoke(one: ResolvedFunction, input: unknown, surroundings: CallSurroundings, log?: Logger): Promise<unknown>
  /** Number of handlers that have not settled. */
  readonly running: number
  /** Waits until every handler has settled, at most the shutdown timeout; then aborts the signals of those left. */
  close(): Promise<void>
}

/** Creates an invoker. */
export function createInvoker(options: ResolvedFunctionRuntimeOptions): FunctionInvoker {
  const { clock, timeout, shutdownTimeout } = options
  const running = new Set<CallContext>()
  let whenIdle: (() => void) | undefined

  const settle = (context: CallContext): void => {
    context.settle()
    running.delete(context)
    if (running.size === 0) whenIdle?.()
  }

  const call = async (one: ResolvedFunction, input: unknown, context: CallContext): Promise<unknown> => {
    running.add(context)
    try {
      return await one.handler(input, context)
    } catch (error) {
      throw isHttpError(error) ? error : failed(one.name, error)
    } finally {
      settle(context)
    }
  }

  return {
    get running() { return running.size },
    invoke(one, input, surroundings, log = options.log) {
      const context = new CallContext(one.name, log, surroundings)
      const result = call(one, input, context)
      if (timeout === undefined) return result
      return new Promise((resolve, reject) => {
        let late = false
        const cancel = clock.at(clock.now() + timeout, () => {
          late = true
          context.abort(`it took longer than ${String(timeout)} ms`)
          reject(new FunctionError({
            code: 'FUNCTION_TIMEOUT',
            message: `Function ${one.name} took longer than ${String(timeout)} ms`,
            retryable: true,
          }))
        })
        result.then(
          (value) => { cancel(); resolve(value) },
          (error: unknown) => {
            cancel()
            if (late) context.log.error({ err: error }, 'The function failed after its caller had been answered')
            reject(error)
          },
        )
      })
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

function failed(name: string, error: unknown): FunctionError {
  const reason = error instanceof Error ? error.message : typeof error === 'string' ? error : 'it threw something that is no Error'
  return new FunctionError({ code: 'FUNCTION_FAILED', message: `Function ${name} failed: ${reason}`, cause: error, retryable: false })
}
