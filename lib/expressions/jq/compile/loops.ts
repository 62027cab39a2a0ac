import type { Json } from '../../../common/index.ts'
import { Break } from '../failure.ts'
import { Env } from '../run.ts'
import { isArray } from '../value.ts'
import { atMostOne, many, NONE, one, optional, single, type Filter, type Get, type Output, type Paths } from './filter.ts'

/** Binds the outputs of a source one after the other and hands each environment on. */
export interface Binder {
  /** Number of links that an environment grows by. */
  readonly size: number
  /** True when it binds the value itself to one variable. */
  readonly plain: boolean
  /** True when there is exactly one way to bind a value. */
  readonly single: boolean
  /** Binds one value. */
  bind(value: Json, env: Env, next: (env: Env) => boolean): boolean
  /** Binds a value when there is exactly one way. */
  bindOne(value: Json, env: Env): Env
}

/** `source as pattern | body`. */
export function bind(source: Filter, binder: Binder, body: Filter): Filter {
  const { get } = source
  const run = body.get
  const usesInput = source.usesInput || body.usesInput
  const paths: Paths = (path, value, env, emit) =>
    source.each(value, env, (output) => binder.bind(output, env, (inner) => body.paths(path, value, inner, emit)))
  if (get && run && binder.single) {
    return atMostOne((value, env) => {
      const output = get(value, env)
      return output === NONE ? NONE : run(value, binder.bindOne(output, env))
    }, source.count === 'one' && body.count === 'one', { usesInput, paths })
  }
  return many((value, env, emit) =>
    source.each(value, env, (output) => binder.bind(output, env, (inner) => body.each(value, inner, emit))), { usesInput, paths })
}

/** `reduce source as pattern (init; update)`. */
export function reduce(source: Filter, binder: Binder, init: Filter, update: Filter): Filter {
  const start = single(init)
  const fold = folder(source, binder, update)
  return start
    ? one((value, env) => fold(value, env, start(value, env)))
    : many((value, env, emit) => init.each(value, env, (state) => emit(fold(value, env, state))))
}

function folder(source: Filter, binder: Binder, update: Filter): (value: Json, env: Env, state: Json) => Json {
  const { get, accumulate } = update
  // `.[] as $x`, the usual case, needs neither a consumer nor a pattern.
  const plain = binder.plain && source.items?.get === undefined ? source.items?.container : undefined
  return (value, env, init) => {
    let state = init
    const owned = new Set<object>()
    const { run } = env
    const turn = accumulate
      ? (inner: Env): boolean => {
        state = accumulate(state, inner, owned)
        return false
      }
      : (inner: Env): boolean => {
        state = lastOutput(update, get, state, inner)
        return false
      }
    const container = plain?.(value, env)
    if (isArray(container)) {
      for (const item of container) {
        run.tick()
        turn(new Env(item, env, run))
      }
    } else {
      source.each(value, env, (output) => {
        run.tick()
        return binder.single ? turn(binder.bindOne(output, env)) : binder.bind(output, env, turn)
      })
    }
    return state
  }
}

function lastOutput(update: Filter, get: Get | undefined, state: Json, env: Env): Json {
  if (get) {
    const output = get(state, env)
    return output === NONE ? null : output
  }
  let last: Json = null
  update.each(state, env, (output) => {
    last = output
    return false
  })
  return last
}

/** `foreach source as pattern (init; update; extract)`. */
export function foreach(source: Filter, binder: Binder, init: Filter, update: Filter, extract: Filter | undefined): Filter {
  return many((value, env, emit) => init.each(value, env, (start) => {
    let state = start
    return source.each(value, env, (item) => binder.bind(item, env, (inner) => {
      env.run.tick()
      // While an update runs there is no state: one without output leaves null behind.
      const current = state
      state = null
      return update.each(current, inner, (output) => {
        state = output
        return extract === undefined ? emit(output) : extract.each(output, inner, emit)
      })
    }))
  }), {
    paths: (path, value, env, emit) => init.each(value, env, (start) => {
      let state = start
      return source.paths(path, value, env, (at, item) => binder.bind(item, env, (inner) => {
        env.run.tick()
        const current = state
        state = null
        return update.paths(at, current, inner, (next, output) => {
          state = output
          return extract === undefined ? emit(next, output) : extract.paths(next, output, inner, emit)
        })
      }))
    }),
  })
}

/** `label $name | body`: the label is an object that `break` throws and nobody else has. */
export function label(body: Filter): Filter {
  const leave = (env: Env, run: (inner: Env) => boolean): boolean => {
    const mark = new Break()
    try {
      return run(new Env(mark, env, env.run))
    } catch (error) {
      if (error !== mark) throw error
      return false
    }
  }
  const { get } = body
  const paths: Paths = (path, value, env, emit) => leave(env, (inner) => body.paths(path, value, inner, emit))
  if (get === undefined) return many((value, env, emit) => leave(env, (inner) => body.each(value, inner, emit)), { paths })
  return optional((value, env) => {
    let output: Output = NONE
    leave(env, (inner) => {
      output = get(value, inner)
      return true
    })
    return output
  }, { paths })
}
