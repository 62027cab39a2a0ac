import type { Attributes } from '@opentelemetry/api'
import type { Logger } from '../common/index.ts'
import type { CallContext, FunctionCompiler, Invoker } from '../functions/index.ts'

/** Where calls of functions are told. */
export interface CallTracing {
  /** Gives the headers of W3C Trace Context that a call is to send. */
  headersOf(context: CallContext): Readonly<Record<string, string>> | undefined
  /** Adds a log line to the spans of an instance. */
  note(instanceId: string, attributes: Attributes): void
}

/** Wraps the functions of a compiler: their calls know the trace, and their log lines at INFO and above become span events. */
export function traceFunctions(compiler: FunctionCompiler, tracing: CallTracing): FunctionCompiler {
  return {
    async compile(definition, scope) {
      return traceInvoker(await compiler.compile(definition, scope), tracing)
    },
    unusedSettings: () => compiler.unusedSettings(),
    close: () => compiler.close(),
  }
}

function traceInvoker(invoker: Invoker, tracing: CallTracing): Invoker {
  return {
    ...invoker,
    invoke(call) {
      const { context } = call
      const traceHeaders = tracing.headersOf(context)
      const note = (level: string, message: string): void => {
        tracing.note(context.instanceId, { level, logger: context.workflowId, message, 'thread.name': 'main' })
      }
      // Its signal is made when it is asked for: a copy would ask.
      const traced = Object.create(context, {
        log: { value: tracedLog(context.log, note) },
        ...(traceHeaders === undefined ? {} : { traceHeaders: { value: traceHeaders } }),
      }) as CallContext
      return invoker.invoke({ ...call, context: traced })
    },
  }
}

function tracedLog(log: Logger, note: (level: string, message: string) => void): Logger {
  return {
    trace: (fields, message) => { log.trace(fields, message) },
    debug: (fields, message) => { log.debug(fields, message) },
    info(fields, message) {
      log.info(fields, message)
      note('INFO', message)
    },
    warn(fields, message) {
      log.warn(fields, message)
      note('WARN', message)
    },
    error(fields, message) {
      log.error(fields, message)
      note('ERROR', message)
    },
    child: (bindings) => tracedLog(log.child(bindings), note),
  }
}
