import { unavailable, type FunctionSource } from '../compile-options.ts'
import type { Invoker } from '../invoker.ts'

/**
 * Compiles `script:<language>:<text>`, which SonataFlow runs in a Python or other interpreter: it loads, so that a project with such a
 * function is served, and fails when called, since no interpreter is embedded.
 */
export function compileScript(operation: string, source: FunctionSource): Invoker {
  const [language] = operation.split(':')
  return unavailable(source, `scripts${language === undefined || language === '' ? '' : ` in ${language}`} are not run; write a host class and call it with "service:<class>::<method>"`)
}
