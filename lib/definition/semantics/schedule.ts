import { isJsonObject, parseDuration } from '../../common/index.ts'
import { readDuration } from '../duration.ts'
import { durationsOf } from '../durations-of.ts'
import type { Schedule } from '../types.ts'
import type { SemanticScope } from './scope.ts'

/** Checks the schedule of the start, and durations that constants hold (G22, S178). */
export function checkTimes(scope: SemanticScope): void {
  checkSchedule(scope)
  checkConstantDurations(scope)
}

function checkSchedule({ definition, document, report }: SemanticScope): void {
  const { schedule } = definition.start
  if (schedule === undefined) return
  const { interval, cron, timezone } = schedule
  const raw = isJsonObject(document['start']) ? document['start']['schedule'] : undefined
  const inner = (name: string): string => isJsonObject(raw) ? `/start/schedule/${name}` : '/start/schedule'
  if (interval !== undefined && cron !== undefined) {
    report(
      '/start/schedule',
      'interval and cron exclude each other',
      'keep one of the two (S255)',
    )
  }
  if (interval === undefined && cron === undefined) {
    report(
      '/start/schedule',
      'the schedule has neither interval nor cron',
      'give it one of the two (S255)',
    )
  }
  if (interval !== undefined && !isInterval(interval)) {
    report(
      inner('interval'),
      `${interval} is no repeating interval`,
      'write R/PT2H, R/<start>/PT2H or R/PT2H/<end> with ISO 8601 date-times (S256)',
    )
  }
  if (cron !== undefined) checkCron(cron, inner('cron'), report)
  if (!isTimezone(timezone)) {
    report(
      inner('timezone'),
      `${timezone} is no time zone`,
      'write a name of the tz database such as Europe/Prague (S262)',
    )
  }
}

function checkCron({ expression, validUntil }: NonNullable<Schedule['cron']>, pointer: string, report: SemanticScope['report']): void {
  if (!isCron(expression)) {
    report(
      pointer,
      `${expression} is no cron expression`,
      'write five fields, or six with seconds first: "0 0/15 * * * ?" (S260)',
    )
  }
  if (validUntil !== undefined && Number.isNaN(Date.parse(validUntil))) {
    report(`${pointer}/validUntil`, `${validUntil} is no date-time`, 'write 2030-01-01T00:00:00Z (S261)')
  }
}

function isInterval(text: string): boolean {
  const [repeat, ...parts] = text.split('/')
  if (repeat !== 'R') return false
  const isDuration = (part: string | undefined): boolean => part !== undefined && (parseDuration(part)?.milliseconds ?? 0) > 0
  const isDate = (part: string | undefined): boolean => part !== undefined && /^\d{4}-\d{2}-\d{2}T/.test(part) && !Number.isNaN(Date.parse(part))
  const [first, second] = parts
  return parts.length === 1 ? isDuration(first) : parts.length === 2 && ((isDate(first) && isDuration(second)) || (isDuration(first) && isDate(second)))
}

// Whether each field is in range is for the scheduler, which knows the calendar.
function isCron(text: string): boolean {
  const fields = text.trim().split(/\s+/)
  return fields.length >= 5 && fields.length <= 7 && fields.every((field) => /^[\dA-Za-z*?,/#LW-]+$/.test(field))
}

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** A duration that names a constant needs one that holds a duration. */
function checkConstantDurations({ definition, document, report }: SemanticScope): void {
  for (const { pointer, text } of durationsOf(document)) {
    if (text.includes('$CONST') && readDuration(text, definition.constants) === undefined) {
      report(pointer, `${text} is no constant that holds a duration`, 'add it to constants, e.g. "PT30S"')
    }
  }
}
