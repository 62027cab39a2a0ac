import { compileErrors } from './error-matching.ts'
import type { Program, ProgramParts } from './program.ts'
import { TextCompiler } from './text-compiler.ts'

/**
 * Compiles every text of a definition.
 *
 * A text that does not compile is handed to `collect` and left out; the caller refuses the definition with all of them.
 */
export function createProgram(parts: ProgramParts): Program {
  const { definition, expressions } = parts
  const events = new Map(definition.events.map((event) => [event.name, event]))
  const compiler = new TextCompiler(parts, events)
  return {
    definition,
    profile: definition.profile,
    expressions,
    version: definition.version.includes('${') ? parts.collect(() => expressions.compileText(definition.version, { pointer: '/version' })) : undefined,
    states: definition.states.map((state, index) => compiler.state(state, index)),
    stateIndex: new Map(definition.states.map(({ name }, index) => [name, index])),
    events,
    errors: compileErrors(definition, (pattern, pointer) => parts.collect(() => expressions.compilePattern(pattern, { pointer }))),
    invokers: [...parts.invokers.values()],
    retries: new Map(definition.retries.map((retry) => [retry.name, retry])),
    readsWorkflow: expressions.reads.variables.has('WORKFLOW'),
  }
}
