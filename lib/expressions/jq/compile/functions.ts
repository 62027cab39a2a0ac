import type { Json } from '../../../common/index.ts'
import { ancestor, Env } from '../run.ts'
import { many, NONE, one, optional, type Emit, type EmitPath, type Filter, type Path } from './filter.ts'

/** A function under compilation: calls may refer to it before its body is compiled. */
export interface FunctionBody {
  filter: Filter | undefined
  /** Tells whether the function calls itself, so that calls inside it are not taken for single. */
  readonly name: string
}

/** An argument of a call: a filter with the environment it was written in. */
interface Argument {
  readonly filter: Filter
  readonly env: Env
}

/** Reads a variable that is `steps` links up. */
export function variable(steps: number): Filter {
  const facts = { usesInput: false }
  if (steps === 0) return one((_value, env) => env.value as Json, facts)
  if (steps === 1) return one((_value, env) => (env.parent as Env).value as Json, facts)
  return one((_value, env) => ancestor(env, steps).value as Json, facts)
}

/** Runs a parameter that is `steps` links up, in the environment of the caller. */
export function parameter(steps: number): Filter {
  return many((value, env, emit) => {
    const argument = ancestor(env, steps).value as Argument
    return argument.filter.each(value, argument.env, emit)
  }, {
    paths: (path, value, env, emit) => {
      const argument = ancestor(env, steps).value as Argument
      return argument.filter.paths(path, value, argument.env, emit)
    },
  })
}

/** Calls a function whose definition is `steps` links up. */
export function call(body: FunctionBody, args: readonly Filter[], steps: number): Filter {
  const enter = (env: Env): Env => {
    env.run.tick()
    let frame = ancestor(env, steps)
    for (const filter of args) frame = new Env({ filter, env } satisfies Argument, frame, env.run)
    return frame
  }
  const { filter } = body
  const paths = (path: Path, value: Json, env: Env, emit: EmitPath): boolean => (body.filter as Filter).paths(path, value, enter(env), emit)
  const get = filter?.get
  if (filter === undefined || get === undefined) {
    return many((value: Json, env: Env, emit: Emit) => (body.filter as Filter).each(value, enter(env), emit), { paths })
  }
  return filter.count === 'one'
    ? one((value, env) => get(value, enter(env)) as Json, { paths })
    : optional((value, env) => get(value, enter(env)), { paths })
}

/** Leaves the label that is `steps` links up. */
export function leave(steps: number): Filter {
  const act = (env: Env): never => {
    throw ancestor(env, steps).value as Error
  }
  return optional((_value, env) => {
    act(env)
    return NONE
  }, { usesInput: false, paths: (_path, _value, env) => act(env) })
}

/** Reads a variable of the bindings. */
export function globalVariable(name: string): Filter {
  return one((_value, env) => env.run.global(name), { usesInput: false })
}

/** Reads a member of a variable of the bindings, such as `$WORKFLOW.instanceId`, without making the whole record. */
export function globalMember(name: string, key: string): Filter {
  return one((_value, env) => env.run.member(name, key), { usesInput: false })
}

/** Reads a member of a record of the bindings whose key is computed; only where dynamic keys of secrets are allowed. */
export function secretMember(name: string, key: Filter): Filter {
  return many((value, env, emit) => key.each(value, env, (output) => emit(env.run.member(name, typeof output === 'string' ? output : ''))))
}
