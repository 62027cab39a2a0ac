import { createRequire } from 'node:module'
import type * as Re2 from 're2js'
import { RegexFault, type Pattern } from './pattern.ts'
import type { RegexOptions, Translated } from './translate.ts'

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
  let compiled: Re2.RE2JS
  try {
    compiled = RE2JS.compile(translated.source, flags)
  } catch (error) {
    throw new RegexFault(explain(error))
  }
  const names = new Array<string | null>(compiled.groupCount()).fill(null)
  for (const [name, group] of Object.entries(compiled.namedGroups() as Readonly<Record<string, number>>)) names[group - 1] = name
  const find = (text: string, from: number): readonly number[] | undefined => findIn(compiled, names.length, text, from)
  // `$` is also before a last line end, which this engine does not know: such texts are searched without it as well.
  const shortened = (text: string): string | undefined => translated.endsBeforeNewline && text.endsWith('\n') ? text.slice(0, -1) : undefined
  return {
    names,
    find(text, from) {
      const found = find(text, from)
      const shorter = shortened(text)
      if (shorter === undefined || from > shorter.length) return found
      const other = find(shorter, from)
      return other !== undefined && (found === undefined || (other[0] ?? 0) < (found[0] ?? 0)) ? other : found
    },
    test: (text) => {
      const shorter = shortened(text)
      return compiled.test(text) || (shorter !== undefined && compiled.test(shorter))
    },
  }
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
