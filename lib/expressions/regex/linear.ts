import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { RegexFault, type Pattern } from './pattern.ts'
import type { RegexOptions, Translated } from './translate.ts'

// Linear in the text and in the pattern: the engine takes some 30 steps in a microsecond, and nobody can stop it on its way.
const MOST_STEPS_TO_FIND = 50_000_000
// Without the places of groups it takes fewer.
const MOST_STEPS_TO_TEST = 200_000_000

// Counted repetitions are written out: a{0,1000}, forty times, is a short pattern and a large machine.
const LARGEST = 20_000

let library: typeof Re2 | undefined

// Loading takes 27 ms and most definitions have no regular expression.
function load(): typeof Re2 {
  library ??= createRequire(import.meta.url)('re2js') as typeof Re2
  return library
}

/** Compiles a pattern for the linear-time engine. */
export function createLinearPattern(translated: Translated, options: RegexOptions): Pattern {
  const { RE2JS } = load()
  const flags = (options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (options.dotAll ? RE2JS.DOTALL : 0) |
    (options.longest ? RE2JS.LONGEST_MATCH : 0)
  checkCounts(translated.source)
  let compiled: Re2.RE2JS
  try {
    compiled = RE2JS.compile(translated.source, flags)
  } catch (error) {
    throw new RegexFault(explain(error))
  }
  const names = new Array<string | null>(compiled.groupCount()).fill(null)
  for (const [name, group] of Object.entries(compiled.namedGroups() as Readonly<Record<string, number>>)) names[group - 1] = name
  const size = compiled.programSize()
  if (size > LARGEST) throw tooLarge()
  const find = (text: string, from: number): readonly number[] | undefined => {
    checkLength(text.length - from, MOST_STEPS_TO_FIND / size)
    return findIn(compiled, names.length, text, from)
  }
  // `$` is also before a last line end, which this engine does not know: such texts are searched without it as well.
  const shortened = (text: string): string | undefined => translated.endsBeforeNewline && text.endsWith('\n') ? text.slice(0, -1) : undefined
  return {
    names,
    size,
    find(text, from) {
      const found = find(text, from)
      const shorter = shortened(text)
      if (shorter === undefined || from > shorter.length) return found
      const other = find(shorter, from)
      return other !== undefined && (found === undefined || (other[0] ?? 0) < (found[0] ?? 0)) ? other : found
    },
    test: (text) => {
      checkLength(text.length, MOST_STEPS_TO_TEST / size)
      const shorter = shortened(text)
      return compiled.test(text) || (shorter !== undefined && compiled.test(shorter))
    },
  }
}

/** Refuses what takes long to be compiled only to be found too large. */
function checkCounts(source: string): void {
  let sum = 0
  for (const [, least, most] of source.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) sum += Math.max(Number(least), Number(most ?? 0))
  if (sum > LARGEST) throw tooLarge()
}

function tooLarge(): RegexFault {
  return new RegexFault('the regular expression is too large once its counts are written out', 'lower the counts, or split it into several')
}

function checkLength(length: number, most: number): void {
  if (length > most) throw new RegexFault(`a text of ${length} characters is too long for this regular expression, which may search ${Math.floor(most)}`)
}

function findIn(compiled: Re2.RE2JS, groups: number, text: string, from: number): readonly number[] | undefined {
  const matcher = compiled.matcher(text)
  if (!matcher.find(from)) return undefined
  const positions: number[] = []
  for (let group = 0; group <= groups; group += 1) positions.push(matcher.start(group), matcher.end(group))
  return positions
}

function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^error parsing regexp: /, '')
}
