import type { Json } from '../../../common/index.ts'
import { RegexFault, type Pattern } from '../../regex/pattern.ts'
import { parseFlags } from '../../regex/flags.ts'
import { add } from '../arithmetic.ts'
import { constant, many, one, single, type Filter } from '../compile/filter.ts'
import { JqError } from '../failure.ts'
import type { Env, Run } from '../run.ts'
import { countCodePoints, isArray, typeOf } from '../value.ts'
import { combinations, type Builtin, type Builtins } from './define.ts'

/** Builtins that search by regular expressions; offsets are in code points. */
export const REGEX: Builtins = {
  'test/1': tester,
  'test/2': tester,
  'match/1': emitting((found) => toMatch(found)),
  'match/2': emitting((found) => toMatch(found)),
  'capture/1': emitting((found) => toCapture(found)),
  'capture/2': emitting((found) => toCapture(found)),
  'scan/1': emitting(toScan, 'g'),
  'scan/2': emitting(toScan, 'g'),
  'splits/1': splitting(false),
  'splits/2': splitting(false),
  'split/2': splitting(true),
  'sub/2': ([pattern, text]) => substitution(pattern as Filter, text as Filter, constant(null), ''),
  'sub/3': ([pattern, text, flags]) => substitution(pattern as Filter, text as Filter, flags as Filter, ''),
  'gsub/2': ([pattern, text]) => substitution(pattern as Filter, text as Filter, constant(null), 'g'),
  'gsub/3': ([pattern, text, flags]) => substitution(pattern as Filter, text as Filter, flags as Filter, 'g'),
}

/** A match: positions in UTF-16 units, and how many code points stand before them. */
interface Found {
  readonly text: string
  readonly positions: readonly number[]
  readonly names: readonly (string | null)[]
  readonly points: (unit: number) => number
}

interface Search {
  readonly pattern: Pattern
  readonly global: boolean
  readonly skipEmpty: boolean
}

// Takes longer to be compiled than a look at the clock.
const LONG_PATTERN = 100

function prepare(value: Json, pattern: Json, flags: Json, extra: string, run: Run): { text: string; search: Search } {
  const [source, modifiers] = isArray(pattern) ? [pattern[0] ?? null, pattern[1] ?? null] : [pattern, flags]
  if (isArray(pattern) ? pattern.length === 0 : typeof pattern !== 'string') throw new JqError(`${typeOf(pattern)} not a string or array`)
  if (typeof value !== 'string') throw new JqError('%0 cannot be matched, as it is not a string', [value])
  if (typeof source !== 'string') throw new JqError('%0 is not a string', [source])
  if (modifiers !== null && typeof modifiers !== 'string') {
    throw extra === '' ? new JqError('%0 is not a string', [modifiers]) : new JqError('%0 and %1 cannot be added', [modifiers, extra])
  }
  const parsed = parseFlags((modifiers ?? '') + extra)
  if (parsed === undefined) throw new JqError('~0 is not a valid modifier string', [modifiers ?? ''])
  if (source.length > LONG_PATTERN) run.lookAtClock()
  try {
    const compiled = run.surroundings.regex.compile(source, parsed.options)
    return { text: value, search: { pattern: compiled, global: parsed.global, skipEmpty: parsed.skipEmpty } }
  } catch (error) {
    throw toFailure(error)
  }
}

function toFailure(error: unknown): unknown {
  return error instanceof RegexFault ? new JqError('Regex failure: ~0', [error.message]) : error
}

// Takes the engine longer, at worst, than many looks at the clock.
const LONG_SEARCH = 100_000

/** Runs through the matches, from left to right. */
function eachMatch(text: string, { pattern, global, skipEmpty }: Search, run: Run, emit: (found: Found) => boolean): boolean {
  const points = pointCounter(text)
  for (let from = 0; from <= text.length;) {
    run.spend(1 + ((text.length - from) >> 6))
    if (pattern.size * (text.length - from) > LONG_SEARCH) run.lookAtClock()
    let positions: readonly number[] | undefined
    try {
      positions = pattern.find(text, from)
    } catch (error) {
      throw toFailure(error)
    }
    if (positions === undefined) return false
    const [start = 0, end = 0] = positions
    const empty = start === end
    if (!(empty && skipEmpty) && emit({ text, positions, names: pattern.names, points })) return true
    if (!global) return false
    from = empty ? start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1) : end
  }
  return false
}

/** Counts code points before a unit; asked in rising order mostly, so it goes on from where it was. */
function pointCounter(text: string): (unit: number) => number {
  let counted = 0
  let points = 0
  return (unit) => {
    if (unit < counted) {
      counted = 0
      points = 0
    }
    points += countCodePoints(text.slice(counted, unit))
    counted = unit
    return points
  }
}

function tester([pattern, flags = constant(null)]: readonly Filter[], offset: number): Filter {
  const call = (value: Json, source: Json, modifiers: Json, env: Env): boolean => {
    env.run.offset = offset
    const { text, search } = prepare(value, source, modifiers, '', env.run)
    env.run.spend(1 + (text.length >> 6))
    if (search.skipEmpty) return eachMatch(text, search, env.run, () => true)
    try {
      return search.pattern.test(text)
    } catch (error) {
      throw toFailure(error)
    }
  }
  const filter = pattern as Filter
  const get = single(filter)
  const getFlags = single(flags)
  if (get && getFlags) return one((value, env) => call(value, get(value, env), getFlags(value, env), env))
  return many((value, env, emit) => combinations([filter, flags], 'first', value, env, ([source, modifiers]) => emit(call(value, source as Json, modifiers as Json, env))))
}

function emitting(convert: (found: Found) => Json, extra = ''): Builtin {
  return ([pattern, flags = constant(null)], offset) => many((value, env, emit) =>
    combinations([pattern as Filter, flags], 'first', value, env, ([source, modifiers]) => {
      env.run.offset = offset
      const { text, search } = prepare(value, source as Json, modifiers as Json, extra, env.run)
      return eachMatch(text, search, env.run, (found) => {
        env.run.charge(4 + found.positions.length)
        return emit(convert(found))
      })
    }))
}

function group(found: Found, index: number): string | null {
  const start = found.positions[index * 2] ?? -1
  return start === -1 ? null : found.text.slice(start, found.positions[index * 2 + 1])
}

function toMatch(found: Found): Json {
  const { positions, names, points } = found
  const string = group(found, 0) ?? ''
  const offset = points(positions[0] ?? 0)
  return {
    offset,
    length: countCodePoints(string),
    string,
    captures: names.map((name, index) => {
      const text = group(found, index + 1)
      if (text === null) return { offset: -1, length: 0, string: null, name }
      return { offset: points(positions[(index + 1) * 2] ?? 0), length: countCodePoints(text), string: text, name }
    }),
  }
}

function toCapture(found: Found): Json {
  const captured: [string, Json][] = []
  found.names.forEach((name, index) => {
    if (name !== null) captured.push([name, group(found, index + 1)])
  })
  return Object.fromEntries(captured)
}

function toScan(found: Found): Json {
  if (found.names.length === 0) return group(found, 0)
  return found.names.map((_, index) => group(found, index + 1))
}

function splitting(asArray: boolean): Builtin {
  return ([pattern, flags = constant(null)], offset) => many((value, env, emit) =>
    combinations([pattern as Filter, flags], 'first', value, env, ([source, modifiers]) => {
      env.run.offset = offset
      const { text, search } = prepare(value, source as Json, modifiers as Json, 'g', env.run)
      const parts: string[] = []
      let from = 0
      eachMatch(text, search, env.run, ({ positions: [start = 0, end = 0] }) => {
        env.run.charge(1 + (start - from) / 8)
        parts.push(text.slice(from, start))
        from = end
        return false
      })
      parts.push(text.slice(from))
      return asArray ? emit(parts) : parts.some((part) => emit(part))
    }))
}

/** Replaces matches by what `text` makes of their named groups; its n-th outputs together give the n-th result. */
function substitution(pattern: Filter, text: Filter, flags: Filter, extra: string): Filter {
  const run = (value: Json, source: Json, modifiers: Json, env: Env, emit: (output: Json) => boolean): boolean => {
    const prepared = prepare(value, source, modifiers, extra, env.run)
    const results: Json[] = []
    let from = 0
    eachMatch(prepared.text, prepared.search, env.run, (found) => {
      const [start = 0, end = 0] = found.positions
      const gap = prepared.text.slice(from, start)
      let index = 0
      text.each(toCapture(found), env, (insert) => {
        results[index] = add(results[index] ?? null, add(gap, insert, env.run), env.run)
        index += 1
        return false
      })
      from = end
      return false
    })
    if (results.length === 0) return emit(value)
    const rest = prepared.text.slice(from)
    return results.some((result) => emit(add(result, rest, env.run)))
  }
  const getPattern = single(pattern)
  const getFlags = single(flags)
  if (getPattern && getFlags && single(text)) {
    return one((value, env) => {
      let result: Json = null
      run(value, getPattern(value, env), getFlags(value, env), env, (output) => {
        result = output
        return true
      })
      return result
    })
  }
  return many((value, env, emit) => combinations([pattern, flags], 'first', value, env, ([source, modifiers]) =>
    run(value, source as Json, modifiers as Json, env, emit)))
}
