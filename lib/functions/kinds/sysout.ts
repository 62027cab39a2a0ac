import { isJsonObject, type Json, type Logger } from '../../common/index.ts'
import { malformed, type FunctionSource } from '../compile-options.ts'
import type { FunctionCall, Invoker } from '../invoker.ts'

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error'

const LEVELS: Readonly<Record<string, Level>> = {
  trace: 'trace', finest: 'trace', debug: 'debug', fine: 'debug', info: 'info', warn: 'warn', warning: 'warn', error: 'error', severe: 'error',
}

/**
 * Compiles `sysout` and `sysout:<LEVEL>`: writes the argument `message` as one line, to the log or where the host wants it.
 *
 * A message that is not text is written as JSON; without a `message` the arguments are. Gives nothing back.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for an unknown level
 */
export function compileSysout(operation: string, source: FunctionSource): Invoker {
  const level = operation === '' ? 'info' : LEVELS[operation.trim().toLowerCase()]
  if (level === undefined) throw malformed(source, '"sysout" or "sysout:<level>" with TRACE, DEBUG, INFO, WARN or ERROR')
  const { stdout } = source.options
  return {
    needsArguments: true,
    invoke(call) {
      const line = messageOf(call)
      if (stdout === undefined) writeLog(call.context.log, level, line)
      else stdout(line)
      return { output: null }
    },
  }
}

function messageOf({ arguments: given, data }: FunctionCall): string {
  const value: Json = given ?? data
  const message = isJsonObject(value) && Object.hasOwn(value, 'message') ? value['message'] ?? null : value
  return typeof message === 'string' ? message : JSON.stringify(message)
}

function writeLog(log: Logger, level: Level, line: string): void {
  log[level]({}, line)
}
