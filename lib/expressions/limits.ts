/** What one evaluation may use; settings `sonatina.expressions.*`. */
export interface ExpressionLimits {
  /** Turns of loops and calls. @default 10_000_000 */
  readonly maxSteps: number
  /** Milliseconds. @default 1000 */
  readonly timeout: number
  /** Array slots and object keys made, and characters made ÷ 8. @default 8_000_000 */
  readonly maxCells: number
  /** Longest text of an expression in bytes. @default 65_536 */
  readonly maxLength: number
}

/** The limits that hold when settings say nothing. */
export const DEFAULT_LIMITS: ExpressionLimits = { maxSteps: 10_000_000, timeout: 1000, maxCells: 8_000_000, maxLength: 65_536 }
