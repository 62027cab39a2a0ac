import { ProgramFailure } from '../language.ts'
import type { ExpressionLimits } from '../limits.ts'
import { checkDatePicture, checkPicture, checkTimestamp } from './pictures.ts'
import { tooLarge } from './usage.ts'

const CHARACTERS_PER_CELL = 8
// Texts are searched for texts in as many steps as there are pairs of characters, at worst; a step of the limit is worth 64.
const PAIRS_PER_STEP = 64
/** What stands for one character in a number's picture. */
const SEPARATORS = ['decimal-separator', 'grouping-separator', 'exponent-separator', 'percent', 'per-mille', 'zero-digit', 'digit', 'pattern-separator']

type Check = (args: readonly unknown[], limits: ExpressionLimits) => void

const CHECKS: Readonly<Record<string, Check>> = {
  formatInteger: ([, picture]) => { checkPicture(picture) },
  parseInteger: ([, picture]) => { checkPicture(picture) },
  formatNumber: ([, picture, options]) => {
    checkPicture(picture)
    checkFormat(options)
  },
  now: ([picture]) => { checkDatePicture(picture) },
  fromMillis: ([, picture]) => { checkDatePicture(picture) },
  toMillis: ([text, picture], limits) => {
    checkDatePicture(picture)
    checkTimestamp(text, picture, limits.maxSteps)
  },
  contains: checkSearch,
  replace: checkSearch,
  split: checkSearch,
  substringBefore: checkSearch,
  substringAfter: checkSearch,
  pad: ([, width], { maxCells }) => { checkLength(Math.abs(Number(width)), maxCells) },
  join: ([texts, separator = ''], { maxCells }) => {
    if (!Array.isArray(texts)) return
    checkLength(texts.reduce((sum: number, text) => sum + String(text).length, texts.length * String(separator).length), maxCells)
  },
}

/**
 * Checks what a function of the library is called with, so that the call ends soon: the library looks at the clock between steps
 * of a program, not inside its functions.
 *
 * @throws {@link ProgramFailure}
 */
export function checkCall(name: string, args: readonly unknown[], limits: ExpressionLimits): void {
  for (const arg of args) {
    // Some functions count down from a number to its end.
    if (typeof arg === 'number' && !Number.isFinite(arg)) throw new ProgramFailure('failed', `$${name} takes numbers up to 1.8e308`)
    if (typeof arg === 'string' && arg.length > limits.maxCells) throw tooLarge(limits.maxCells)
  }
  if (Object.hasOwn(CHECKS, name)) CHECKS[name]?.(args, limits)
}

function checkSearch([text, sought]: readonly unknown[], { maxSteps }: ExpressionLimits): void {
  if (typeof text !== 'string' || typeof sought !== 'string') return
  if (text.length * sought.length > maxSteps * PAIRS_PER_STEP) {
    throw new ProgramFailure('limit', `max-steps: the text sought is too long for a text of ${text.length} characters`)
  }
}

function checkLength(length: number, maxCells: number): void {
  if (length > maxCells * CHARACTERS_PER_CELL) throw tooLarge(maxCells)
}

function checkFormat(options: unknown): void {
  if (typeof options !== 'object' || options === null) return
  for (const [name, value] of Object.entries(options)) {
    if (SEPARATORS.includes(name) && (typeof value !== 'string' || Array.from(value).length !== 1)) {
      throw new ProgramFailure('failed', `$formatNumber takes one character as ${name}`)
    }
  }
}
