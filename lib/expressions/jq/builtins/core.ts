import type { Json } from '../../../common/index.ts'
import { add, addOwned } from '../arithmetic.ts'
import { nothing, select } from '../compile/control.ts'
import { constant, many, one, optional, single, type Each, type Filter } from '../compile/filter.ts'
import { identity, iterate } from '../compile/paths.ts'
import { toJson } from '../dump.ts'
import { JqError } from '../failure.ts'
import type { Env, Run } from '../run.ts'
import { deepFreeze, equals, isArray, isObject, isTruthy, typeOf } from '../value.ts'
import { unary, type Builtin, type Builtins } from './define.ts'

const TYPES: Readonly<Record<string, (value: Json) => boolean>> = {
  'values/0': (value) => value !== null,
  'nulls/0': (value) => value === null,
  'booleans/0': (value) => typeof value === 'boolean',
  'numbers/0': (value) => typeof value === 'number',
  'strings/0': (value) => typeof value === 'string',
  'arrays/0': isArray,
  'objects/0': isObject,
  'iterables/0': (value) => typeof value === 'object' && value !== null,
  'scalars/0': (value) => typeof value !== 'object' || value === null,
}

/** Builtins on any values: types, failures, questions about outputs, what the surroundings are told. */
export const CORE: Builtins = {
  ...Object.fromEntries(Object.entries(TYPES).map(([name, test]) => [name, ((): Filter => select(one(test))) satisfies Builtin])),
  'empty/0': nothing,
  'not/0': () => one((value) => !isTruthy(value)),
  'type/0': () => one(typeOf),
  'error/0': (_args, offset) => failing((value) => value, offset),
  'error/1': ([message], offset) => raise(message as Filter, offset),
  'select/1': ([condition]) => select(condition as Filter),
  'utf8bytelength/0': unary((value) => {
    if (typeof value !== 'string') throw new JqError('%0 only strings have UTF-8 byte length', [value])
    return Buffer.byteLength(value)
  }),
  'add/0': (_args, offset) => sum(iterate(identity(), offset)),
  'add/1': ([source]) => sum(source as Filter),
  'any/0': (_args, offset) => quantify(iterate(identity(), offset), identity(), true),
  'any/1': ([condition], offset) => quantify(iterate(identity(), offset), condition as Filter, true),
  'any/2': ([source, condition]) => quantify(source as Filter, condition as Filter, true),
  'all/0': (_args, offset) => quantify(iterate(identity(), offset), identity(), false),
  'all/1': ([condition], offset) => quantify(iterate(identity(), offset), condition as Filter, false),
  'all/2': ([source, condition]) => quantify(source as Filter, condition as Filter, false),
  'env/0': () => constant(deepFreeze({})),
  'input_filename/0': () => constant(null),
  'input_line_number/0': () => constant(0),
  'have_literal_numbers/0': () => constant(true),
  'have_decnum/0': () => constant(false),
  'input/0': (_args, offset) => failing(() => 'break', offset),
  'inputs/0': nothing,
  'halt/0': (_args, offset) => failing(() => 'halt is not available: a workflow ends by its states', offset),
  'halt_error/0': (_args, offset) => failing((value) => value, offset),
  'halt_error/1': (_args, offset) => failing((value) => value, offset),
  'debug/0': () => passing((value, run) => { run.surroundings.debug(value) }),
  'stderr/0': () => passing((value, run) => { run.surroundings.debug(value) }),
  'debug/1': ([message]) => reporting(message as Filter),
  'tojson/0': unary((value, run) => print(value, run)),
  'tostring/0': unary((value, run) => typeof value === 'string' ? value : print(value, run)),
  'IN/1': ([source]) => inside(source as Filter),
}

function failing(value: (input: Json) => Json, offset: number): Filter {
  return optional((input) => {
    throw new JqError({ raised: value(input) }, [], offset)
  }, { paths: (_path, input) => { throw new JqError({ raised: value(input) }, [], offset) } })
}

function raise(message: Filter, offset: number): Filter {
  const each: Each = (value, env) => message.each(value, env, (output) => {
    throw new JqError({ raised: output }, [], offset)
  })
  const facts = { paths: (_path: unknown, value: Json, env: Env): boolean => each(value, env, () => false) }
  const get = single(message)
  if (get === undefined) return many(each, facts)
  return optional((value, env) => { throw new JqError({ raised: get(value, env) }, [], offset) }, facts)
}

function passing(act: (value: Json, run: Run) => void): Filter {
  return one((value, env) => {
    act(value, env.run)
    return value
  })
}

function reporting(message: Filter): Filter {
  const report = (value: Json, env: Env): void => {
    message.each(value, env, (output) => {
      env.run.surroundings.debug(output)
      return false
    })
  }
  return one((value, env) => {
    report(value, env)
    return value
  })
}

function print(value: Json, run: Run): string {
  const text = toJson(value)
  run.charge(text.length / 8)
  run.spend(text.length >> 6)
  return text
}

function sum(source: Filter): Filter {
  return one((value, env) => {
    const owned = new Set<object>()
    let total: Json = null
    source.each(value, env, (item) => {
      env.run.tick()
      total = typeof item === 'object' ? addOwned(total, item, env.run, owned) : add(total, item, env.run)
      return false
    })
    return total
  })
}

/** `any` when `wanted` is true, `all` otherwise: stops at the first output that decides. */
function quantify(source: Filter, condition: Filter, wanted: boolean): Filter {
  const test = single(condition)
  return one((value, env) => {
    const decides = test
      ? (item: Json): boolean => isTruthy(test(item, env)) === wanted
      : (item: Json): boolean => condition.each(item, env, (output) => isTruthy(output) === wanted)
    return source.each(value, env, decides) === wanted
  })
}

function inside(source: Filter): Filter {
  return one((value, env) => source.each(value, env, (item) => {
    env.run.tick()
    return equals(item, value)
  }))
}
