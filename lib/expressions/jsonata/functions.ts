import type { LanguageOptions } from '../languages.ts'

/** What the library calls a function with. */
interface Focus {
  readonly environment: { lookup(name: string): unknown }
}

const CHARACTERS_PER_CELL = 8

/** Code of the failure of a function that would make too much. */
export const TOO_LARGE = 'TOO_LARGE'

/** A function to register: what it does and its signature in the library's notation. */
export type GuardedFunction = readonly [implementation: (this: Focus, ...args: never[]) => unknown, signature: string]

/**
 * Makes the functions that replace those of the library which read the machine or can grow without end: `$now`, `$millis`,
 * `$random`, `$shuffle` use the injected sources, `$eval` is refused, `$pad` is bounded.
 */
export function guardedFunctions({ clock, ids, limits }: LanguageOptions): Readonly<Record<string, GuardedFunction>> {
  const longest = limits.maxCells * CHARACTERS_PER_CELL
  return {
    millis: [() => clock.now(), '<:n>'],
    now: [function now(this: Focus, picture?: string, timezone?: string) {
      const format = this.environment.lookup('fromMillis') as { readonly implementation: (this: Focus, ...args: unknown[]) => unknown }
      return format.implementation.call(this, clock.now(), picture, timezone)
    }, '<s?s?:s>'],
    random: [() => ids.random(), '<:n>'],
    shuffle: [(items: readonly unknown[] | undefined) => items === undefined ? undefined : shuffle(items, () => ids.random()), '<a:a>'],
    pad: [(text: string | undefined, width: number, filler?: string) => {
      if (Math.abs(width) > longest) throw failure(TOO_LARGE, `$pad makes a text of more than ${longest} characters`)
      return text === undefined ? undefined : pad(text, width, filler ?? ' ')
    }, '<s-ns?:s>'],
    eval: [() => { throw failure('EVAL', '$eval is not available: expressions are checked when the definition is loaded') }, '<sx?:x>'],
  }
}

function shuffle(items: readonly unknown[], random: () => number): unknown[] {
  const result = [...items]
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    const item = result[last]
    result[last] = result[other]
    result[other] = item
  }
  return result
}

function pad(text: string, width: number, filler: string): string {
  const missing = Math.abs(width) - Array.from(text).length
  if (missing <= 0) return text
  const chars = Array.from(filler === '' ? ' ' : filler)
  const padding = Array.from({ length: missing }, (_, index) => chars[index % chars.length]).join('')
  return width > 0 ? text + padding : padding + text
}

// The library's failures are plain objects with a code.
function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, position: 0, token: '' })
}
