import type { Json } from '../../../common/index.ts'
import { JqError } from '../failure.ts'
import { isTruthy } from '../value.ts'
import { atMostOne, many, NONE, optional, single, type Each, type EmitPath, type Filter, type FilterFacts, type Get, type Items, type One, type Paths } from './filter.ts'

/** `left | right`. */
export function pipe(left: Filter, right: Filter): Filter {
  if (left.keys?.length === 0) return right
  if (right.keys?.length === 0) return left
  const facts = pipeFacts(left, right)
  const { get } = left
  const next = right.get
  if (get && next) {
    const { keeps } = left
    // One call instead of two for each element of `map(select(…) | …)`.
    if (keeps) return optional((value, env) => isTruthy(keeps(value, env)) ? next(value, env) : NONE, facts)
    if (left.count === 'one') return atMostOne((value, env) => next((get as One)(value, env), env), right.count === 'one', facts)
    return optional((value, env) => {
      const output = get(value, env)
      return output === NONE ? NONE : next(output, env)
    }, facts)
  }
  return many(pipeEach(left, right), facts)
}

function pipeEach(left: Filter, right: Filter): Each {
  const { get } = left
  const next = right.get
  if (get) return (value, env, emit) => {
    const output = get(value, env)
    return output !== NONE && right.each(output, env, emit)
  }
  if (right.count === 'one') return (value, env, emit) => left.each(value, env, (output) => emit((next as One)(output, env)))
  if (next) return (value, env, emit) => left.each(value, env, (output) => {
    const result = next(output, env)
    return result !== NONE && emit(result)
  })
  return (value, env, emit) => left.each(value, env, (output) => right.each(output, env, emit))
}

function pipeFacts(left: Filter, right: Filter): FilterFacts {
  const { update, accumulate } = left
  const after = right.update
  const afterAccumulate = right.accumulate
  return {
    usesInput: left.usesInput && right.usesInput,
    paths: (path, value, env, emit) => left.paths(path, value, env, (at, output) => right.paths(at, output, env, emit)),
    ...(left.items && right.get && { items: thenItems(left.items, right.get) }),
    ...(left.keys && right.keys && { keys: [...left.keys, ...right.keys] }),
    ...(update && after && { update: (value, env, change, context) =>
      update(value, env, (old, inner) => after(old, env, change, inner), context) }),
    ...(accumulate && afterAccumulate && { accumulate: (state, env, owned) =>
      afterAccumulate(accumulate(state, env, owned), env, owned) }),
  }
}

function thenItems({ container, get }: Items, next: Get): Items {
  if (get === undefined) return { container, get: next }
  return {
    container,
    get: (value, env) => {
      const output = get(value, env)
      return output === NONE ? NONE : next(output, env)
    },
  }
}

/** `left, right`. */
export function comma(left: Filter, right: Filter): Filter {
  return many((value, env, emit) => left.each(value, env, emit) || right.each(value, env, emit), {
    usesInput: left.usesInput || right.usesInput,
    paths: (path, value, env, emit) => left.paths(path, value, env, emit) || right.paths(path, value, env, emit),
  })
}

/** `if condition then … else … end`; without `else` the input. */
export function conditional(condition: Filter, then: Filter, otherwise: Filter): Filter {
  const test = single(condition)
  const choose = (value: Json): Filter => isTruthy(value) ? then : otherwise
  const paths: Paths = (path, value, env, emit) =>
    condition.each(value, env, (output) => choose(output).paths(path, value, env, emit))
  const usesInput = condition.usesInput || then.usesInput || otherwise.usesInput
  if (test === undefined) {
    return many((value, env, emit) => condition.each(value, env, (output) => choose(output).each(value, env, emit)), { usesInput, paths })
  }
  const facts = { usesInput, paths, ...branchFacts(test, then, otherwise) }
  const first = then.get
  const second = otherwise.get
  if (first && second) {
    const exactly = then.count === 'one' && otherwise.count === 'one'
    return atMostOne((value, env) => isTruthy(test(value, env)) ? first(value, env) : second(value, env), exactly, facts)
  }
  return many((value, env, emit) => choose(test(value, env)).each(value, env, emit), facts)
}

function branchFacts(test: One, then: Filter, otherwise: Filter): FilterFacts {
  const { update, accumulate } = then
  const other = otherwise.update
  const otherAccumulate = otherwise.accumulate
  return {
    ...(update && other && { update: (value, env, change, context) =>
      (isTruthy(test(value, env)) ? update : other)(value, env, change, context) }),
    ...(accumulate && otherAccumulate && { accumulate: (state, env, owned) =>
      (isTruthy(test(state, env)) ? accumulate : otherAccumulate)(state, env, owned) }),
  }
}

/** `empty`. */
export function nothing(): Filter {
  return optional(() => NONE, { usesInput: false, paths: () => false, update: (value) => value })
}

/** `select(condition)`. */
export function select(condition: Filter): Filter {
  const test = single(condition)
  const paths: Paths = (path, value, env, emit) => condition.each(value, env, (output) => isTruthy(output) && emit(path, value))
  if (test === undefined) return many((value, env, emit) => condition.each(value, env, (output) => isTruthy(output) && emit(value)), { paths })
  return optional((value, env) => {
    const output = test(value, env)
    return output !== false && output !== null ? value : NONE
  }, {
    paths,
    keeps: test,
    update: (value, env, change, context) => isTruthy(test(value, env)) ? change(value, context) : value,
  })
}

/** `try body catch handler`; without a handler failures give no output. Only failures of the body itself are caught. */
export function attempt(body: Filter, handler: Filter | undefined): Filter {
  const paths: Paths = (path, value, env, emit) => guard(
    (inner: EmitPath) => body.paths(path, value, env, inner),
    (failure) => handler !== undefined && handler.paths(path, failure, env, emit),
    emit,
  )
  const { get } = body
  const facts = { usesInput: body.usesInput || (handler?.usesInput ?? false), paths }
  if (get && (handler === undefined || handler.get)) {
    const rescue = handler?.get
    return atMostOne((value, env) => {
      try {
        return get(value, env)
      } catch (error) {
        if (!(error instanceof JqError)) throw error
        return rescue === undefined ? NONE : rescue(error.value, env)
      }
    }, body.count === 'one' && handler?.count === 'one', facts)
  }
  return many((value, env, emit) => guard(
    (inner: (output: Json) => boolean) => body.each(value, env, inner),
    (failure) => handler !== undefined && handler.each(failure, env, emit),
    emit,
  ), facts)
}

function guard<Args extends unknown[]>(
  run: (emit: (...args: Args) => boolean) => boolean, rescue: (failure: Json) => boolean, emit: (...args: Args) => boolean,
): boolean {
  // False while a consumer has the output: its failures are not ours.
  const state = { inside: true }
  try {
    return run((...args) => {
      state.inside = false
      const stop = emit(...args)
      state.inside = true
      return stop
    })
  } catch (error) {
    if (!state.inside || !(error instanceof JqError)) throw error
    return rescue(error.value)
  }
}
