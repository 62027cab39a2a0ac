import type { Json } from '../../../common/index.ts'
import { one } from '../compile/filter.ts'
import { JqError } from '../failure.ts'
import { isArray } from '../value.ts'
import { formatTime, fromEpoch, parseTime, toEpoch, type BrokenTime } from './calendar.ts'
import { binary, unary, type Builtins } from './define.ts'

/** Builtins on dates; local time is UTC, so that results do not depend on the machine. */
export const DATES: Builtins = {
  'now/0': () => one((_value, env) => env.run.surroundings.clock.now() / 1000),
  'mktime/0': unary((value) => {
    if (!isArray(value)) throw new JqError('mktime requires array inputs')
    return Math.floor(toEpoch(toBroken(value, 'mktime requires parsed datetime inputs')))
  }),
  'gmtime/0': unary((value) => toList(value, 'gmtime() requires numeric inputs')),
  'localtime/0': unary((value) => toList(value, 'localtime() requires numeric inputs')),
  'strftime/1': binary((value, format) => formatValue(value, format, 'strftime/1')),
  'strflocaltime/1': binary((value, format) => formatValue(value, format, 'strflocaltime/1')),
  'strptime/1': binary((value, format) => {
    if (typeof value !== 'string' || typeof format !== 'string') throw new JqError('strptime/1 requires string inputs and arguments')
    const parsed = parseTime(value, format)
    if (parsed === undefined) throw new JqError('date "~0" does not match format "~1"', [value, format])
    return parsed
  }),
}

function toList(value: Json, message: string): Json {
  if (typeof value !== 'number') throw new JqError(message)
  return fromEpoch(value)
}

function toBroken(value: readonly Json[], message: string): BrokenTime {
  if (value.some((field) => typeof field !== 'number')) throw new JqError(message)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, weekDay, yearDay] = value as readonly number[]
  const known = fromEpoch(toEpoch([year, month, day, hour, minute, second, 0, 0]))
  return [year, month, day, hour, minute, second, weekDay ?? known[6], yearDay ?? known[7]]
}

function formatValue(value: Json, format: Json, name: string): Json {
  if (typeof value !== 'number' && !isArray(value)) throw new JqError(`${name} requires parsed datetime inputs`)
  if (typeof format !== 'string') throw new JqError(`${name} requires a string format`)
  const broken = typeof value === 'number' ? fromEpoch(value) : toBroken(value, `${name} requires parsed datetime inputs`)
  return formatTime(broken, format)
}
