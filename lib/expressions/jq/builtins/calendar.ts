/** Year, month from 0, day, hour, minute, second, day of the week from Sunday = 0, day of the year from 0. */
export type BrokenTime = readonly [number, number, number, number, number, number, number, number]

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const MONTHS = [
  'January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December',
]
const DAY = 86_400

/** Splits seconds since the epoch into fields, in UTC; the second keeps its fraction. */
export function fromEpoch(seconds: number): BrokenTime {
  const whole = Math.floor(seconds)
  const date = new Date(whole * 1000)
  if (Number.isNaN(date.getTime())) return [1970, 0, 1, 0, 0, NaN, 4, 0]
  const year = date.getUTCFullYear()
  const yearDay = Math.floor((Date.UTC(2000, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(2000, 0, 1)) / 1000 / DAY)
  // 2000 is a leap year: later days move by one in others.
  const shift = date.getUTCMonth() > 1 && !isLeap(year) ? 1 : 0
  return [
    year, date.getUTCMonth(), date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(),
    date.getUTCSeconds() + (seconds - whole), date.getUTCDay(), yearDay - shift,
  ]
}

/** Joins fields to seconds since the epoch, in UTC. */
export function toEpoch([year, month, day, hour, minute, second]: BrokenTime): number {
  const date = new Date(0)
  date.setUTCFullYear(Math.trunc(year), Math.trunc(month), Math.trunc(day))
  return date.getTime() / 1000 + Math.trunc(hour) * 3600 + Math.trunc(minute) * 60 + Math.trunc(second)
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

function pad(value: number, width: number, fill = '0'): string {
  return String(Math.trunc(value)).padStart(width, fill)
}

/** Year and week by ISO 8601: weeks begin on Monday, the first one has the first Thursday. */
function isoWeek([year, , , , , , weekDay, yearDay]: BrokenTime): readonly [number, number] {
  const monday = (weekDay + 6) % 7
  const thursday = yearDay - monday + 3
  if (thursday < 0) {
    const length = isLeap(year - 1) ? 366 : 365
    return [year - 1, Math.floor((thursday + length) / 7) + 1]
  }
  const length = isLeap(year) ? 366 : 365
  return thursday >= length ? [year + 1, 1] : [year, Math.floor(thursday / 7) + 1]
}

type Conversion = (time: BrokenTime) => string

const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  A: (time) => DAYS[time[6]] ?? '', a: (time) => (DAYS[time[6]] ?? '').slice(0, 3),
  B: (time) => MONTHS[time[1]] ?? '', b: (time) => (MONTHS[time[1]] ?? '').slice(0, 3), h: (time) => (MONTHS[time[1]] ?? '').slice(0, 3),
  C: (time) => pad(time[0] / 100, 2), Y: (time) => pad(time[0], 4), y: (time) => pad(time[0] % 100, 2),
  m: (time) => pad(time[1] + 1, 2), d: (time) => pad(time[2], 2), e: (time) => pad(time[2], 2, ' '), j: (time) => pad(time[7] + 1, 3),
  H: (time) => pad(time[3], 2), I: (time) => pad((time[3] + 11) % 12 + 1, 2), k: (time) => pad(time[3], 2, ' '), l: (time) => pad((time[3] + 11) % 12 + 1, 2, ' '),
  M: (time) => pad(time[4], 2), S: (time) => pad(time[5], 2), p: (time) => time[3] < 12 ? 'AM' : 'PM', P: (time) => time[3] < 12 ? 'am' : 'pm',
  u: (time) => String(time[6] === 0 ? 7 : time[6]), w: (time) => String(time[6]),
  U: (time) => pad((time[7] + 7 - time[6]) / 7, 2), W: (time) => pad((time[7] + 7 - (time[6] + 6) % 7) / 7, 2),
  G: (time) => pad(isoWeek(time)[0], 4), g: (time) => pad(isoWeek(time)[0] % 100, 2), V: (time) => pad(isoWeek(time)[1], 2),
  s: (time) => String(toEpoch(time)), Z: () => 'UTC', z: () => '+0000', n: () => '\n', t: () => '\t', '%': () => '%',
}

/** Conversions that stand for several others. */
const COMPOSITES: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y', D: '%m/%d/%y', F: '%Y-%m-%d', R: '%H:%M', r: '%I:%M:%S %p',
  T: '%H:%M:%S', X: '%H:%M:%S', x: '%m/%d/%y', '+': '%a %b %e %H:%M:%S %Z %Y',
}

/** Prints a time by a format of strftime, in the C locale. Unknown conversions stay as they are. */
export function formatTime(time: BrokenTime, format: string): string {
  return format.replaceAll(/%[-_0^#EO]*([a-zA-Z%+])/g, (text, name: string) => {
    const composite = Object.hasOwn(COMPOSITES, name) ? COMPOSITES[name] : undefined
    if (composite !== undefined) return formatTime(time, composite)
    return Object.hasOwn(CONVERSIONS, name) ? (CONVERSIONS[name]?.(time) ?? text) : text
  })
}

interface Reading {
  rest: string
  year: number
  month: number
  day: number
  hour: number
  minute: number
  second: number
  afternoon: boolean | undefined
  yearDay: number | undefined
  epoch: number | undefined
}

const digits = (reading: Reading, most: number, set: (value: number) => void): boolean => {
  const found = new RegExp(`^\\s*([+-]?\\d{1,${most}})`).exec(reading.rest)
  if (found === null) return false
  reading.rest = reading.rest.slice(found[0].length)
  set(Number(found[1]))
  return true
}

const name = (reading: Reading, names: readonly string[], set: (index: number) => void): boolean => {
  const text = reading.rest.toLowerCase()
  const index = names.findIndex((candidate) => text.startsWith(candidate.toLowerCase()))
  const short = index === -1 ? names.findIndex((candidate) => text.startsWith(candidate.slice(0, 3).toLowerCase())) : index
  if (short === -1) return false
  reading.rest = reading.rest.slice(index === -1 ? 3 : (names[index] ?? '').length)
  set(short)
  return true
}

const PARSERS: Readonly<Record<string, (reading: Reading) => boolean>> = {
  Y: (reading) => digits(reading, 4, (value) => { reading.year = value }),
  y: (reading) => digits(reading, 2, (value) => { reading.year = value < 69 ? 2000 + value : 1900 + value }),
  C: (reading) => digits(reading, 2, (value) => { reading.year = value * 100 + reading.year % 100 }),
  m: (reading) => digits(reading, 2, (value) => { reading.month = value - 1 }),
  d: (reading) => digits(reading, 2, (value) => { reading.day = value }),
  e: (reading) => digits(reading, 2, (value) => { reading.day = value }),
  H: (reading) => digits(reading, 2, (value) => { reading.hour = value }),
  k: (reading) => digits(reading, 2, (value) => { reading.hour = value }),
  I: (reading) => digits(reading, 2, (value) => { reading.hour = value % 12 }),
  l: (reading) => digits(reading, 2, (value) => { reading.hour = value % 12 }),
  M: (reading) => digits(reading, 2, (value) => { reading.minute = value }),
  S: (reading) => digits(reading, 2, (value) => { reading.second = value }),
  j: (reading) => digits(reading, 3, (value) => { reading.yearDay = value - 1 }),
  s: (reading) => digits(reading, 20, (value) => { reading.epoch = value }),
  u: (reading) => digits(reading, 1, () => undefined),
  w: (reading) => digits(reading, 1, () => undefined),
  U: (reading) => digits(reading, 2, () => undefined),
  W: (reading) => digits(reading, 2, () => undefined),
  A: (reading) => name(reading, DAYS, () => undefined),
  a: (reading) => name(reading, DAYS, () => undefined),
  B: (reading) => name(reading, MONTHS, (index) => { reading.month = index }),
  b: (reading) => name(reading, MONTHS, (index) => { reading.month = index }),
  h: (reading) => name(reading, MONTHS, (index) => { reading.month = index }),
  p: (reading) => name(reading, ['AM', 'PM'], (index) => { reading.afternoon = index === 1 }),
  Z: (reading) => skip(reading, /^[A-Za-z]+/),
  z: (reading) => skip(reading, /^\s*(?:Z|[+-]\d{2}:?(?:\d{2})?)/),
  n: (reading) => skip(reading, /^\s*/),
  t: (reading) => skip(reading, /^\s*/),
  '%': (reading) => skip(reading, /^%/),
}

function skip(reading: Reading, pattern: RegExp): boolean {
  const found = pattern.exec(reading.rest)
  if (found === null) return false
  reading.rest = reading.rest.slice(found[0].length)
  return true
}

/** Reads a time by a format of strptime; `undefined` when the text does not fit. Offsets are read over, as jq does. */
export function parseTime(text: string, format: string): BrokenTime | undefined {
  const reading: Reading = {
    rest: text, year: 1970, month: 0, day: 1, hour: 0, minute: 0, second: 0, afternoon: undefined, yearDay: undefined, epoch: undefined,
  }
  if (!readFormat(reading, format) || reading.rest.trim() !== '') return undefined
  if (reading.epoch !== undefined) return fromEpoch(reading.epoch)
  if (!inRange(reading)) return undefined
  const hour = reading.hour + (reading.afternoon === true ? 12 : 0)
  const day = reading.yearDay === undefined ? [reading.month, reading.day] as const : [0, reading.yearDay + 1] as const
  const known = fromEpoch(toEpoch([reading.year, day[0], day[1], 0, 0, 0, 0, 0]))
  const date = reading.yearDay === undefined ? [reading.year, reading.month, reading.day] as const : [known[0], known[1], known[2]] as const
  return [...date, hour, reading.minute, reading.second, known[6], known[7]]
}

function readFormat(reading: Reading, format: string): boolean {
  for (const [text, conversion] of format.matchAll(/%[-_0^#EO]*([a-zA-Z%+])|\s+|[^]/g)) {
    if (conversion !== undefined && Object.hasOwn(COMPOSITES, conversion)) {
      if (!readFormat(reading, COMPOSITES[conversion] ?? '')) return false
    } else if (conversion !== undefined && Object.hasOwn(PARSERS, conversion)) {
      if (PARSERS[conversion]?.(reading) !== true) return false
    } else if (text.trim() === '') {
      reading.rest = reading.rest.trimStart()
    } else {
      if (!reading.rest.startsWith(text)) return false
      reading.rest = reading.rest.slice(text.length)
    }
  }
  return true
}

function inRange({ month, day, hour, minute, second }: Reading): boolean {
  return month >= 0 && month < 12 && day >= 1 && day <= 31 && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second <= 61
}
