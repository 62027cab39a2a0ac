import { ProgramFailure } from '../language.ts'
import type { ExpressionLimits } from '../limits.ts'

const CHARACTERS_PER_CELL = 8

/** What the library keeps of one evaluation. */
export interface Base {
  /** Throws when the evaluation has taken too long. */
  guardrails(): void
}

// An evaluation is known by its outermost frame, since several may be under way at the same time.
const cells = new WeakMap<Base, number>()

/** Gives a result, having counted what it takes in memory. */
export function chargeResult(base: Base, result: unknown, limits: ExpressionLimits): unknown {
  if (typeof result === 'string') charge(base, result.length / CHARACTERS_PER_CELL, limits)
  else if (Array.isArray(result)) charge(base, result.length, limits)
  return result
}

/**
 * Counts memory that an evaluation takes, in cells.
 *
 * @throws {@link ProgramFailure} of the kind `limit` when it is more than an evaluation may take.
 */
export function charge(base: Base, count: number, { maxCells }: ExpressionLimits): void {
  const total = (cells.get(base) ?? 0) + count
  if (total > maxCells) throw tooLarge(maxCells)
  cells.set(base, total)
}

/** The failure of an evaluation that needs too much memory. */
export function tooLarge(maxCells: number): ProgramFailure {
  return new ProgramFailure('limit', `max-cells: the expression needs more than ${maxCells} cells of memory`)
}
