import { isJsonObject, parseDuration, toPointer, type JsonObject } from '../../common/index.ts'
import { readDuration } from '../duration.ts'
import type { SemanticScope } from './scope.ts'

/** Checks the schedule of the start, and durations that constants hold (G22, S178). */
export function checkTimes(scope: SemanticScope): void {
  checkSchedule(scope)
  checkConstantDurations(scope, scope.document, [])
}

function checkSchedule({ definition, document, report }: SemanticScope): void {
  const { schedule } = definition.start
  if (schedule === undefined) return
  const raw = isJsonObject(document['start']) ? document['start']['schedule'] : undefined
  const inner = (name: string): string => isJsonObject(raw) ? `/start/schedule/${name}` : '/start/schedule'
  const both = schedule.interval !== undefined && schedule.cron !== undefined
  if (both || (schedule.interval === undefined && schedule.cron === undefined)) {
    report('/start/schedule', both ? 'interval and cron exclude each other' : 'the schedule has neither interval nor cron', 'give it one of the two (S255)')
  }
  if (schedule.interval !== undefined && !isInterval(schedule.interval)) {
    report(inner('interval'), `${schedule.interval} is no repeating interval`, 'write R/PT2H, R/<start>/PT2H or R/PT2H/<end> with ISO 8601 date-times (S256)')
  }
  if (schedule.cron !== undefined) {
    const { expression, validUntil } = schedule.cron
    if (!isCron(expression)) report(inner('cron'), `${expression} is no cron expression`, 'write five fields, or six with seconds first: "0 0/15 * * * ?" (S260)')
    if (validUntil !== undefined && Number.isNaN(Date.parse(validUntil))) report(inner('cron/validUntil'), `${validUntil} is no date-time`, 'write 2030-01-01T00:00:00Z (S261)')
  }
  if (!isTimezone(schedule.timezone)) report(inner('timezone'), `${schedule.timezone} is no time zone`, 'write a name of the tz database such as Europe/Prague (S262)')
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

const DURATIONS = new Set([
  'duration', 'before', 'after', 'delay', 'maxDelay', 'increment', 'resultEventTimeout', 'single', 'total',
  'workflowExecTimeout', 'stateExecTimeout', 'actionExecTimeout', 'branchExecTimeout', 'eventTimeout',
])
const DATA = new Set(['data', 'arguments', 'constants', 'metadata', 'extensions', 'dataInputSchema', 'dataOutputSchema', 'contextAttributes'])

/** A duration that names a constant needs one that holds a duration. */
function checkConstantDurations(scope: SemanticScope, value: unknown, path: readonly (string | number)[]): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value as JsonObject)) {
    if (DATA.has(key)) continue
    if (DURATIONS.has(key) && typeof child === 'string' && child.includes('$CONST') && readDuration(child, scope.definition.constants) === undefined) {
      scope.report(toPointer([...path, key]), `${child} is no constant that holds a duration`, 'add it to constants, e.g. "PT30S"')
    }
    checkConstantDurations(scope, child, [...path, key])
  }
}
