import { andThen, malformed, unavailable, type FunctionSource } from '../compile-options.ts'
import type { Invoker } from '../invoker.ts'

/**
 * Compiles `function:<name>`: a function that the same process hosts (function-runtime.md), called without HTTP. The arguments, or the
 * data of the action, are its input; what it gives is the result.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` without a name
 */
export function compileHosted(name: string, source: FunctionSource): Invoker {
  if (name === '') throw malformed(source, '"function:<name>"')
  const { hostedFunctions } = source.options
  if (hostedFunctions === undefined) return unavailable(source, 'this process hosts no functions')
  return {
    invoke: (call) => andThen(hostedFunctions.invoke(name, call.arguments ?? call.data, call.context), (output) => ({ output })),
  }
}
