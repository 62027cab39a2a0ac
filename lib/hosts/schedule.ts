import { createRequire } from 'node:module'
import type * as CronParser from 'cron-parser'
import type * as Luxon from 'luxon'
import { parseDuration } from '../common/index.ts'
import type { Schedule } from '../definition/index.ts'
import { DefinitionError } from '../errors/index.ts'

// Both are read for the first schedule: most services have none.
const load = createRequire(import.meta.url)

/** Gives the first instant after another at which a schedule starts an instance; `undefined` when there is none any more. */
export type NextRun = (after: number) => number | undefined

/**
 * Compiles a schedule (S255–S262). Instants are milliseconds since the epoch.
 *
 * `R/<start>/<duration>` counts from its start, `R/<duration>/<end>` backwards from its end with the last run one duration before it
 * (S257), `R/<duration>` from the deployment, where the first run is one duration later (S258). Cron expressions have five fields,
 * or six or seven in the order of Quartz (S260).
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` when the text is none of these
 */
export function compileSchedule(schedule: Schedule, deployedAt: number): NextRun {
  if (schedule.cron !== undefined) return compileCron(schedule.cron, schedule.timezone)
  return compileInterval(schedule.interval ?? '', schedule.timezone, deployedAt)
}

function compileInterval(text: string, timezone: string, deployedAt: number): NextRun {
  const parts = text.trim().split('/')
  const [first = '', second] = parts[0]?.toUpperCase() === 'R' ? parts.slice(1) : parts
  const length = durationOf(first) ?? (second === undefined ? undefined : durationOf(second))
  if (length === undefined || length <= 0) throw invalid(text)
  if (second === undefined) return every(length, deployedAt + length)
  if (durationOf(first) === undefined) return every(length, instantOf(first, timezone, text))
  const last = instantOf(second, timezone, text) - length
  return (after) => {
    const next = last - Math.floor((last - after - 1) / length) * length
    return next > last ? undefined : next
  }
}

function every(length: number, first: number): NextRun {
  return (after) => (after < first ? first : first + (Math.floor((after - first) / length) + 1) * length)
}

function durationOf(text: string): number | undefined {
  return /^P/i.test(text) ? parseDuration(text)?.milliseconds : undefined
}

// A date and time without an offset is meant in the schedule's zone, one with an offset is converted (S262).
function instantOf(text: string, timezone: string, whole: string): number {
  const { DateTime } = load('luxon') as typeof Luxon
  const instant = DateTime.fromISO(text, { zone: timezone })
  if (!instant.isValid) throw invalid(whole)
  return instant.toMillis()
}

function compileCron(cron: NonNullable<Schedule['cron']>, timezone: string): NextRun {
  const expression = fromQuartz(cron.expression)
  const until = cron.validUntil === undefined ? Infinity : instantOf(cron.validUntil, timezone, cron.validUntil)
  const { CronExpressionParser } = load('cron-parser') as typeof CronParser
  const parse = (currentDate: number): number => CronExpressionParser.parse(expression, { currentDate, tz: timezone }).next().getTime()
  try {
    parse(0)
  } catch (error) {
    throw invalid(cron.expression, error)
  }
  return (after) => {
    const next = parse(after)
    return next > until ? undefined : next
  }
}

// Quartz has seconds first, counts weekdays from Sunday = 1, and may have a year at the end.
function fromQuartz(text: string): string {
  const fields = text.trim().split(/\s+/)
  if (fields.length < 6) return fields.join(' ')
  if (fields.length === 7 && fields[6] !== '*' && fields[6] !== '?') throw invalid(text)
  const weekday = (fields[5] ?? '*').replace(/(^|[,-])(\d)/g, (_, before: string, day: string) => `${before}${String(Number(day) - 1)}`)
  return [...fields.slice(0, 5), weekday].join(' ')
}

function invalid(text: string, cause?: unknown): DefinitionError {
  return new DefinitionError({
    code: 'DEFINITION_INVALID',
    message: `"${text}" is no schedule; write R/<start>/<duration>, R/<duration>/<end>, R/<duration> or a cron expression`,
    cause,
  })
}
