import type { Json } from '../common/index.ts'
import type { Bindings, Compiled } from './evaluator.ts'
import { ProgramFailure, type Program } from './language.ts'
import { evaluationError, type Source } from './locate.ts'
import { toText } from './jq/dump.ts'

/** Turns the outputs of a program into what a place needs. */
export interface Target<Result> {
  /** From the only output; `undefined` when there was none. */
  one(output: Json | undefined): Result
  /** From all outputs. */
  all(outputs: readonly Json[]): Result
}

/** JSON: null without output, an array of several (A18). */
export const JSON_OUTPUT: Target<Json> = {
  one: (output) => output === undefined ? null : printable(output),
  all: (outputs) => outputs.length > 1 ? outputs : JSON_OUTPUT.one(outputs[0]),
}

/** Text: null and no output are empty, several are joined by one blank. */
export const TEXT_OUTPUT: Target<string> = {
  one: (output) => output === undefined || output === null ? '' : toText(output),
  all: (outputs) => outputs.map((output) => TEXT_OUTPUT.one(output)).join(' '),
}

/** A list: an array is the list, anything else an element of it; arrays among several outputs are taken in. */
export const LIST_OUTPUT: Target<readonly Json[]> = {
  one: (output) => {
    if (output === null) throw new ProgramFailure('failed', 'the collection is null: there is nothing to iterate over')
    if (output === undefined) return []
    return Array.isArray(output) ? (output as readonly Json[]) : [output]
  },
  all: (outputs) => outputs.length === 1 ? LIST_OUTPUT.one(outputs[0]) : outputs.flat(1),
}

/** A condition: the first output; no output and null are false. `strict` refuses other non-booleans (A07). */
export function conditionOutput(strict: boolean): Target<boolean> {
  const one = (output: Json | undefined): boolean => {
    if (typeof output === 'boolean') return output
    if (output === undefined || output === null) return false
    if (!strict) return true
    const type = Array.isArray(output) ? 'an array' : typeof output === 'object' ? 'an object' : `a ${typeof output}`
    throw new ProgramFailure('failed', `the condition gives ${type}, not true or false`)
  }
  return { one, all: (outputs) => one(outputs[0]) }
}

// JSON has no such numbers; jq prints null and the largest double.
function printable(output: Json): Json {
  if (typeof output !== 'number' || Number.isFinite(output)) return output
  return Number.isNaN(output) ? null : Math.sign(output) * Number.MAX_VALUE
}

/** Joins a program and the place its outputs go to; failures name the source. */
export function toCompiled<Result>(program: Program, target: Target<Result>, source: Source, sync: boolean): Compiled<Result> {
  const fail = (error: unknown): never => { throw evaluationError(error, source) }
  if (program.identity === true) return identityCompiled(target, fail)
  return sync ? syncCompiled(program, target, fail) : asyncCompiled(program, target, fail)
}

function syncCompiled<Result>(program: Program, target: Target<Result>, fail: (error: unknown) => never): Compiled<Result> {
  const evaluateOne = program.evaluateOne as ((input: Json, bindings: Bindings) => Json | undefined) | undefined
  if (evaluateOne === undefined) {
    return {
      evaluate(input, bindings) {
        try {
          return target.all(program.evaluateAll(input, bindings) as readonly Json[])
        } catch (error) {
          return fail(error)
        }
      },
    }
  }
  return {
    evaluate(input, bindings) {
      try {
        return target.one(evaluateOne(input, bindings))
      } catch (error) {
        return fail(error)
      }
    },
  }
}

function asyncCompiled<Result>(program: Program, target: Target<Result>, fail: (error: unknown) => never): Compiled<Result> {
  return {
    async evaluate(input, bindings) {
      try {
        return target.all(await program.evaluateAll(input, bindings))
      } catch (error) {
        return fail(error)
      }
    },
  }
}

function identityCompiled<Result>(target: Target<Result>, fail: (error: unknown) => never): Compiled<Result> {
  if (target === (JSON_OUTPUT as unknown)) return { evaluate: (input) => input as Result }
  return {
    evaluate(input) {
      try {
        return target.one(input)
      } catch (error) {
        return fail(error)
      }
    },
  }
}
