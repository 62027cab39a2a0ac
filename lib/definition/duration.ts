import { atPointer, parseDuration, toPointer, type Duration, type JsonObject } from '../common/index.ts'

const SIMPLE = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/i
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const CONSTANT = /^(?:\$\{\s*)?\$CONST\.([\w.-]+?)\s*\}?$/

/**
 * Reads a duration of a definition: ISO 8601, the malformed forms of reading A16, `10s` as SonataFlow allows,
 * `$CONST.path`.
 *
 * Constants are static (S178), so the reference is answered when the definition is loaded.
 *
 * @returns milliseconds, with a warning when the text is not ISO 8601; `undefined` when it is no duration
 */
export function readDuration(value: unknown, constants: JsonObject): Duration | undefined {
  // Normalised definitions hold milliseconds already.
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? { milliseconds: value } : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  const path = CONSTANT.exec(text)?.[1]
  if (path !== undefined) {
    const constant = atPointer(constants, toPointer(path.split('.')))
    return typeof constant === 'string' && !constant.includes('$CONST') ? readDuration(constant, {}) : undefined
  }
  return readSimple(text) ?? parseDuration(text)
}

function readSimple(text: string): Duration | undefined {
  const [, amount, unit] = SIMPLE.exec(text) ?? []
  if (amount === undefined || unit === undefined) return undefined
  const milliseconds = Math.round(Number(amount) * (UNITS[unit.toLowerCase()] ?? 1))
  return { milliseconds, warning: `"${text}" is not ISO 8601; write "${toIso(milliseconds)}"` }
}

function toIso(milliseconds: number): string {
  return milliseconds % 86_400_000 === 0 && milliseconds > 0 ? `P${String(milliseconds / 86_400_000)}D` : `PT${String(milliseconds / 1000)}S`
}
