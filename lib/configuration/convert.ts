import { parseDuration } from '../common/index.ts'
import type { SettingDefinition } from './catalogue/index.ts'

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true, yes: true, on: true, 1: true, false: false, no: false, off: false, 0: false,
}

/** Reads true/false/yes/no/on/off/1/0 in any case; `undefined` for anything else. */
export function toBoolean(text: string): boolean | undefined {
  const word = text.trim().toLowerCase()
  return Object.hasOwn(BOOLEANS, word) ? BOOLEANS[word] : undefined
}

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a duration (`500ms`, `10s`, `PT10S`, or a number in the given unit) as milliseconds. */
export function toDuration(text: string, unit: 'ms' | 's' = 'ms'): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/i.exec(text.trim())
  if (match) return Math.round(Number(match[1]) * (DURATION_UNITS[match[2]?.toLowerCase() ?? unit] ?? 1))
  return parseDuration(text)?.milliseconds
}

const SIZE_UNITS: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }

/** Reads a size (`10M`, `10240K`, bytes) as bytes. */
export function toSize(text: string): number | undefined {
  const match = /^(\d+)\s*([KMG]?)B?$/i.exec(text.trim())
  return match ? Number(match[1]) * (SIZE_UNITS[match[2]?.toUpperCase() ?? ''] ?? 1) : undefined
}

/** Reads a number; an empty text or anything that is not finite gives `undefined`. */
export function toNumber(text: string): number | undefined {
  const trimmed = text.trim()
  const value = Number(trimmed)
  return trimmed === '' || !Number.isFinite(value) ? undefined : value
}

/** Splits a list at its commas; `\,` is a literal comma, empty items are dropped. */
export function toList(text: string): string[] {
  return text
    .split(/(?<!\\),/)
    .map((item) => item.replaceAll('\\,', ',').trim())
    .filter((item) => item !== '')
}

/** Tells what is wrong with the text of a setting, in words for the author; `undefined` when it is right. */
export function checkValue(definition: SettingDefinition, text: string): string | undefined {
  switch (definition.type) {
    case 'boolean':
      return toBoolean(text) === undefined ? 'is not true or false' : undefined
    case 'integer':
      return checkNumber(definition, toNumber(text), true)
    case 'number':
      return checkNumber(definition, toNumber(text), false)
    case 'duration':
      return toDuration(text, definition.unit) === undefined
        ? `is not a duration such as 500ms, 10s or PT10S (a bare number counts ${definition.unit === 's' ? 'seconds' : 'milliseconds'})`
        : undefined
    case 'size':
      return toSize(text) === undefined ? 'is not a size such as 10M, 10240K or a number of bytes' : undefined
    case 'choice':
      return definition.values?.some((value) => value.toLowerCase() === text.toLowerCase()) === true
        ? undefined
        : `is not one of ${definition.values?.join(', ') ?? ''}`
    case 'list':
    case 'text':
      return undefined
  }
}

function checkNumber(definition: SettingDefinition, value: number | undefined, whole: boolean): string | undefined {
  const { min = -Infinity, max = Infinity } = definition
  if (value !== undefined && (!whole || Number.isInteger(value)) && value >= min && value <= max) return undefined
  const from = Number.isFinite(min) ? ` from ${min}` : ''
  const to = Number.isFinite(max) ? `${from === '' ? ' up' : ''} to ${max}` : ''
  return `is not a ${whole ? 'whole ' : ''}number${from}${to}`
}
