import type { Json } from '../common/index.ts'
import type { Bindings } from './evaluator.ts'
import type { Program } from './language.ts'
import { TEXT_OUTPUT } from './outputs.ts'
import type { TextPart } from './wrapper.ts'

/** Makes a program that gives a text with the outputs of its parts put in (A04). */
export function interpolate(parts: readonly TextPart[], compile: (text: string, offset: number) => Program, sync: boolean): Program {
  const programs = parts.map((part) => typeof part === 'string' ? part : compile(part.expression, part.offset))
  const run = (part: string | Program, input: Json, bindings: Bindings): unknown => typeof part === 'string' ? [part] : part.evaluateAll(input, bindings)
  const join = (outputs: readonly unknown[]): string => outputs.map((output) => TEXT_OUTPUT.all(output as readonly Json[])).join('')
  const evaluateOne: Program['evaluateOne'] = sync
    ? (input, bindings) => join(programs.map((part) => run(part, input, bindings)))
    : async (input, bindings) => join(await Promise.all(programs.map((part) => run(part, input, bindings))))
  return {
    evaluateOne: evaluateOne,
    evaluateAll: (input, bindings) => {
      const output = (evaluateOne as (input: Json, bindings: Bindings) => string | Promise<string>)(input, bindings)
      return typeof output === 'string' ? [output] : output.then((text) => [text])
    },
  }
}
