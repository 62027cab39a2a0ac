import type { Json } from '../../../common/index.ts'
import { many, NONE, one, optional, single, type Each, type Filter, type Path, type Paths } from '../compile/filter.ts'
import { firstOutput } from '../compile/update.ts'
import { JqError } from '../failure.ts'
import type { Env } from '../run.ts'
import { compare, isTruthy } from '../value.ts'
import { combinations, type Builtins } from './define.ts'
import { descendants } from './paths.ts'

/** Builtins that produce, cut or follow streams of outputs. */
export const STREAMS: Builtins = {
  'range/1': ([upto]) => range((value, env, emit) => (upto as Filter).each(value, env, (end) => emit(0, end, 1))),
  'range/2': (args) => range((value, env, emit) => combinations(args, 'first', value, env, ([from, upto]) => emit(from as Json, upto as Json, 1))),
  'range/3': (args) => range((value, env, emit) => combinations(args, 'first', value, env, ([from, upto, by]) => emit(from as Json, upto as Json, by as Json))),
  'first/1': ([source]) => first(source as Filter),
  'last/1': ([source]) => last(source as Filter),
  'limit/2': ([count, source]) => limit(count as Filter, source as Filter),
  'skip/2': ([count, source]) => skip(count as Filter, source as Filter),
  'nth/2': ([count, source]) => nth(count as Filter, source as Filter),
  'until/2': ([condition, update]) => until(condition as Filter, update as Filter),
  'while/2': ([condition, update]) => unfold(update as Filter, condition),
  'repeat/1': ([update]) => unfold(update as Filter, undefined),
  'recurse/0': descendants,
  'recurse/1': ([update]) => unfold(update as Filter, undefined),
  'recurse/2': ([update, condition]) => unfold(update as Filter, undefined, condition),
  'isempty/1': ([source]) => one((value, env) => !(source as Filter).each(value, env, () => true)),
}

function range(bounds: (value: Json, env: Env, emit: (from: Json, upto: Json, by: Json) => boolean) => boolean): Filter {
  return many((value, env, emit) => bounds(value, env, (from, upto, by) => {
    if (typeof from !== 'number' || typeof upto !== 'number' || typeof by !== 'number') throw new JqError('Range bounds must be numeric')
    if (by > 0) {
      for (let at = from; at < upto; at += by) {
        env.run.tick()
        if (emit(at)) return true
      }
    } else if (by < 0) {
      for (let at = from; at > upto; at += by) {
        env.run.tick()
        if (emit(at)) return true
      }
    } else if (from < upto) {
      for (;;) {
        env.run.tick()
        if (emit(from)) return true
      }
    }
    return false
  }))
}

function first(source: Filter): Filter {
  if (source.get) return source
  return optional((value, env) => firstOutput(source, value, env), {
    paths: (path, value, env, emit) => {
      // The consumer runs after the source was left, as in `label $out | source | ., break $out`.
      let found: [Path, Json] | undefined
      source.paths(path, value, env, (at, output) => {
        found = [at, output]
        return true
      })
      return found !== undefined && emit(...found)
    },
  })
}

function last(source: Filter): Filter {
  return optional((value, env) => {
    let found: Json | typeof NONE = NONE
    source.each(value, env, (output) => {
      found = output
      return false
    })
    return found
  })
}

function assertCount(count: Json, name: string): number {
  if (compare(count, 0) < 0) throw new JqError(`${name} doesn't support negative count`)
  if (typeof count !== 'number') throw new JqError('%0 and number (1) cannot be subtracted', [count])
  return count
}

/** Passes outputs on while `take` says so; `end` after the last one that is passed. */
type Gate = () => 'pass' | 'drop' | 'last'

function gated(count: Filter, source: Filter, gate: (count: number) => Gate | undefined, name: string): Filter {
  const each: Each = (value, env, emit) => count.each(value, env, (output) => {
    const verdict = gate(assertCount(output, name))
    if (verdict === undefined) return false
    let stopped = false
    source.each(value, env, (item) => {
      const next = verdict()
      if (next !== 'drop') stopped = emit(item)
      return stopped || next === 'last'
    })
    return stopped
  })
  const paths: Paths = (path, value, env, emit) => count.each(value, env, (output) => {
    const verdict = gate(assertCount(output, name))
    if (verdict === undefined) return false
    let stopped = false
    source.paths(path, value, env, (at, item) => {
      const next = verdict()
      if (next !== 'drop') stopped = emit(at, item)
      return stopped || next === 'last'
    })
    return stopped
  })
  return many(each, { paths })
}

function limit(count: Filter, source: Filter): Filter {
  return gated(count, source, (most) => {
    let left = most
    return most <= 0 ? undefined : () => (left -= 1) <= 0 ? 'last' : 'pass'
  }, 'limit')
}

function skip(count: Filter, source: Filter): Filter {
  return gated(count, source, (least) => {
    let left = least
    return () => (left -= 1) >= 0 ? 'drop' : 'pass'
  }, 'skip')
}

function nth(count: Filter, source: Filter): Filter {
  return many((value, env, emit) => count.each(value, env, (position) => {
    if (compare(position, 0) < 0) throw new JqError('nth doesn\'t support negative indices')
    let left = assertCount(position, 'nth')
    let found: Json | typeof NONE = NONE
    source.each(value, env, (output) => {
      if ((left -= 1) >= 0) return false
      found = output
      return true
    })
    return found !== NONE && emit(found)
  }), {
    paths: (path, value, env, emit) => count.each(value, env, (position) => {
      let left = assertCount(position, 'nth')
      let found: [Path, Json] | undefined
      source.paths(path, value, env, (at, output) => {
        if ((left -= 1) >= 0) return false
        found = [at, output]
        return true
      })
      return found !== undefined && emit(...found)
    }),
  })
}

function until(condition: Filter, update: Filter): Filter {
  const test = single(condition)
  const step = single(update)
  const paths: Paths = (path, value, env, emit) => {
    const turn = (at: Path, state: Json): boolean => {
      env.run.tick()
      return condition.each(state, env, (output) => isTruthy(output) ? emit(at, state) : update.paths(at, state, env, turn))
    }
    return turn(path, value)
  }
  if (test && step) {
    return one((value, env) => {
      let state = value
      while (!isTruthy(test(state, env))) {
        env.run.tick()
        state = step(state, env)
      }
      return state
    }, { paths })
  }
  return many((value, env, emit) => {
    const turn = (state: Json): boolean => {
      env.run.tick()
      return condition.each(state, env, (output) => isTruthy(output) ? emit(state) : update.each(state, env, turn))
    }
    return turn(value)
  }, { paths })
}

/** The input, then everything that `update` makes of it, again and again: `recurse`, `repeat` and `while`. */
function unfold(update: Filter, condition: Filter | undefined, filter?: Filter): Filter {
  const { get } = update
  const test = condition === undefined ? undefined : single(condition)
  const wanted = filter === undefined ? undefined : single(filter)
  const paths: Paths = (path, value, env, emit) => {
    const turn = (at: Path, state: Json): boolean => {
      env.run.tick()
      const go = (): boolean => emit(at, state) || update.paths(at, state, env, (next, output) => filter === undefined
        ? turn(next, output)
        : filter.each(output, env, (keep) => isTruthy(keep) && turn(next, output)))
      return condition === undefined ? go() : condition.each(state, env, (output) => isTruthy(output) && go())
    }
    return turn(path, value)
  }
  if (get && (condition === undefined || test) && (filter === undefined || wanted)) {
    // At most one successor: a loop, however long.
    return many((value, env, emit) => {
      let state: Json | typeof NONE = value
      while (state !== NONE) {
        env.run.tick()
        if (test && !isTruthy(test(state, env))) return false
        if (emit(state)) return true
        state = get(state, env)
        if (state !== NONE && wanted && !isTruthy(wanted(state, env))) return false
      }
      return false
    }, { paths })
  }
  return many((value, env, emit) => {
    const turn = (state: Json): boolean => {
      env.run.tick()
      const go = (): boolean => emit(state) || update.each(state, env, (output) => filter === undefined
        ? turn(output)
        : filter.each(output, env, (keep) => isTruthy(keep) && turn(output)))
      return condition === undefined ? go() : condition.each(state, env, (output) => isTruthy(output) && go())
    }
    return turn(value)
  }, { paths })
}
