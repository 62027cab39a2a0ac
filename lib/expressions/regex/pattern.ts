// What to do about a fault that says enough by itself.
const PATTERN_HINT = 'patterns are in Perl syntax; a backslash in a text of the expression is written twice'

/** A regular expression cannot be compiled or run; the message names the construct. */
export class RegexFault extends Error {
  /** What could be written instead. */
  readonly hint: string

  constructor(message: string, hint = PATTERN_HINT) {
    super(message)
    this.hint = hint
  }
}

/** A compiled regular expression; offsets are UTF-16 units. */
export interface Pattern {
  /** Names of the groups from 1 on, null for those without. */
  readonly names: readonly (string | null)[]
  /** How many steps the engine takes for a character of the text, at worst. */
  readonly size: number
  /**
   * Finds the first match at or after an offset: start and end of the match, then of each group (-1 where it took no part).
   *
   * @throws {@link RegexFault} when the text is too long for the engine.
   */
  find(text: string, from: number): readonly number[] | undefined
  /** Tells whether there is a match. */
  test(text: string): boolean
}
