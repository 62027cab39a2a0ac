import { setOwn, type Json } from '../../../common/index.ts'
import { toText } from '../dump.ts'
import { JqError } from '../failure.ts'
import type { Env } from '../run.ts'
import { deepFreeze, isArray } from '../value.ts'
import { collect, constant, many, NONE, one, single, type Filter, type Items } from './filter.ts'

type One = (value: Json, env: Env) => Json

/** `[body]`. */
export function array(body: Filter | undefined): Filter {
  if (body === undefined) return constant(deepFreeze([]))
  if (body.constant !== undefined) return constant(deepFreeze([body.constant]))
  const { get, items, usesInput } = body
  if (items) return one(mapItems(items, body), { usesInput })
  if (get === undefined) return one((value, env) => collect(body, value, env), { usesInput })
  return one((value, env) => {
    const item = get(value, env)
    env.run.charge(1)
    return item === NONE ? [] : [item]
  }, { usesInput })
}

/** `[.a[] | f]`: a plain loop. */
function mapItems({ container, get }: Items, body: Filter): One {
  return (value, env) => {
    const source = container(value, env)
    if (!isArray(source)) return collect(body, value, env)
    const { run } = env
    run.spend(source.length)
    run.charge(get === undefined ? source.length : 1)
    if (get === undefined) return source.slice()
    const outputs: Json[] = []
    for (let index = 0; index < source.length; index += 1) {
      const output = get(source[index] as Json, env)
      if (output !== NONE) outputs.push(output)
    }
    run.charge(outputs.length)
    return outputs
  }
}

/** Several outputs in an array, each from a filter with exactly one: `[a, b, c]`. */
export function tuple(items: readonly Filter[]): Filter {
  const getters = items.map((item) => single(item) as One)
  if (items.every((item) => item.constant !== undefined)) return constant(deepFreeze(items.map((item) => item.constant as Json)))
  return one((value, env) => {
    env.run.charge(getters.length)
    return getters.map((get) => get(value, env))
  }, { usesInput: items.some((item) => item.usesInput) })
}

/** A compiled entry of an object construction. */
export interface Entry {
  readonly key: Filter
  readonly value: Filter
  readonly offset: number
}

/** `{key: value, …}`: all combinations of the outputs, the first entry outermost. */
export function object(entries: readonly Entry[]): Filter {
  if (entries.every(({ key, value }) => typeof key.constant === 'string' && value.constant !== undefined)) {
    const fixed = {}
    for (const { key, value } of entries) setOwn(fixed, key.constant as string, value.constant)
    return constant(deepFreeze(fixed))
  }
  const usesInput = entries.some(({ key, value }) => key.usesInput || value.usesInput)
  const names = entries.map(({ key }) => key.constant)
  const getters = entries.map(({ value }) => single(value))
  if (names.every((name) => typeof name === 'string' && name !== '__proto__') && getters.every((get) => get !== undefined)) {
    return one(fixedObject(names as string[], getters), { usesInput })
  }
  const keyGetters = entries.map(({ key }) => single(key))
  if (keyGetters.every((get) => get !== undefined) && getters.every((get) => get !== undefined)) {
    return one((value, env) => {
      env.run.charge(entries.length)
      const result: Record<string, Json> = {}
      keyGetters.forEach((getKey, position) => {
        const key = (getKey)(value, env)
        // The key is checked when the member is put in: a failing value comes first.
        const member = (getters[position] as One)(value, env)
        setOwn(result, assertKey(key, entries[position]?.offset), member)
      })
      return result
    }, { usesInput })
  }
  return many((value, env, emit) => combine(entries, 0, {}, value, env, emit), { usesInput })
}

function fixedObject(names: readonly string[], getters: readonly One[]): One {
  const size = names.length
  const [name = '', second = ''] = names
  const [get, getSecond] = getters as [One, One]
  // Assigning to a fresh object is five times as fast as a computed key in a literal.
  if (size === 1) return (value, env) => {
    const result: Record<string, Json> = {}
    result[name] = get(value, env)
    env.run.charge(1)
    return result
  }
  if (size === 2) return (value, env) => {
    const result: Record<string, Json> = {}
    result[name] = get(value, env)
    result[second] = getSecond(value, env)
    env.run.charge(2)
    return result
  }
  return (value, env) => {
    const result: Record<string, Json> = {}
    for (let position = 0; position < size; position += 1) {
      result[names[position] as string] = (getters[position] as One)(value, env)
    }
    env.run.charge(size)
    return result
  }
}

function combine(
  entries: readonly Entry[], position: number, made: Record<string, unknown>, value: Json, env: Env, emit: (output: Json) => boolean,
): boolean {
  const entry = entries[position]
  if (entry === undefined) {
    env.run.charge(entries.length)
    return emit(made as Json)
  }
  return entry.key.each(value, env, (key) => entry.value.each(value, env, (member) => {
    const next = { ...made }
    setOwn(next, assertKey(key, entry.offset), member)
    return combine(entries, position + 1, next, value, env, emit)
  }))
}

function assertKey(key: Json, offset: number | undefined): string {
  if (typeof key !== 'string') throw new JqError('Cannot use %0 as object key', [key], offset)
  return key
}

/** A text with interpolations; `format` turns each value into text. The last interpolation is the outermost loop. */
export function text(parts: readonly (string | Filter)[], format: (value: Json, env: Env) => string = toText): Filter {
  const getters = parts.map((part) => typeof part === 'string' ? (): Json => part : single(part))
  const literal = parts.map((part) => typeof part === 'string')
  const usesInput = parts.some((part) => typeof part !== 'string' && part.usesInput)
  if (getters.every((get) => get !== undefined)) {
    return one((value, env) => {
      let out = ''
      for (let position = 0; position < getters.length; position += 1) {
        const output = (getters[position] as One)(value, env)
        out += literal[position] === true ? (output as string) : format(output, env)
      }
      env.run.charge(out.length / 8)
      return out
    }, { usesInput })
  }
  return many((value, env, emit) => joinParts(parts, parts.length - 1, '', value, env, format, emit), { usesInput })
}

function joinParts(
  parts: readonly (string | Filter)[], position: number, tail: string, value: Json, env: Env,
  format: (value: Json, env: Env) => string, emit: (output: Json) => boolean,
): boolean {
  const part = parts[position]
  env.run.charge(tail.length / 8)
  if (part === undefined) return emit(tail)
  if (typeof part === 'string') return joinParts(parts, position - 1, part + tail, value, env, format, emit)
  return part.each(value, env, (output) => joinParts(parts, position - 1, format(output, env) + tail, value, env, format, emit))
}
