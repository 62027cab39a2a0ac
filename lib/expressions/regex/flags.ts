import type { RegexOptions } from './translate.ts'

/** Flags of jq's regular expressions, read. */
export interface Flags {
  readonly options: RegexOptions
  /** All matches, not only the first. */
  readonly global: boolean
  /** Matches of nothing do not count. */
  readonly skipEmpty: boolean
}

/** Reads flags such as `gi`; `undefined` when one is unknown. */
export function parseFlags(flags: string): Flags | undefined {
  if (/[^gixspnl]/.test(flags)) return undefined
  const has = (flag: string): boolean => flags.includes(flag)
  return {
    // `s` only says that ^ and $ mean the text, which they do anyway.
    options: { ignoreCase: has('i'), extended: has('x'), dotAll: has('p'), longest: has('l') },
    global: has('g'),
    skipEmpty: has('n'),
  }
}
