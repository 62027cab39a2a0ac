import type { Json } from '../../../common/index.ts'
import { many, one, single, type Filter } from '../compile/filter.ts'
import type { Env, Run } from '../run.ts'

/** Makes the filter of a builtin from the filters of its arguments; `offset` is where it is called. */
export type Builtin = (args: readonly Filter[], offset: number) => Filter
/** Builtins by name and number of arguments: `length/0`. */
export type Builtins = Readonly<Record<string, Builtin>>

/** A builtin without arguments that turns the input into one output. */
export function unary(compute: (input: Json, run: Run) => Json): Builtin {
  return (_args, offset) => one((value, env) => {
    env.run.offset = offset
    return compute(value, env.run)
  })
}

/** A builtin that computes one output from the input and the outputs of one argument. */
export function binary(compute: (input: Json, argument: Json, run: Run) => Json): Builtin {
  return ([argument], offset) => {
    const filter = argument as Filter
    const get = single(filter)
    const call = (input: Json, output: Json, env: Env): Json => {
      env.run.offset = offset
      return compute(input, output, env.run)
    }
    if (get) return one((value, env) => call(value, get(value, env), env))
    return many((value, env, emit) => filter.each(value, env, (output) => emit(call(value, output, env))))
  }
}

/** A builtin that computes one output from all combinations of its arguments. */
export function combining(compute: (input: Json, args: readonly Json[], run: Run) => Json, outermost: 'first' | 'last'): Builtin {
  return (args, offset) => {
    const getters = args.map((arg) => single(arg))
    const call = (input: Json, outputs: readonly Json[], env: Env): Json => {
      env.run.offset = offset
      return compute(input, outputs, env.run)
    }
    if (getters.every((get) => get !== undefined)) return one((value, env) => call(value, getters.map((get) => get(value, env)), env))
    return many((value, env, emit) => combinations(args, outermost, value, env, (outputs) => emit(call(value, outputs, env))))
  }
}

/** Runs through all combinations of the outputs of several filters. */
export function combinations(
  args: readonly Filter[], outermost: 'first' | 'last', value: Json, env: Env, emit: (outputs: readonly Json[]) => boolean,
): boolean {
  const outputs = new Array<Json>(args.length).fill(null)
  const step = (position: number): boolean => {
    if (position === args.length) return emit([...outputs])
    const index = outermost === 'first' ? position : args.length - 1 - position
    return (args[index] as Filter).each(value, env, (output) => {
      outputs[index] = output
      return step(position + 1)
    })
  }
  return step(0)
}
