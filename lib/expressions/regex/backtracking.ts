import { RegexFault, type Pattern } from './pattern.ts'
import type { RegexOptions, Translated } from './translate.ts'

const LONGEST_TEXT = 10_000

/** Compiles a pattern for the platform's engine, which may take time exponential in the text. */
export function createBacktrackingPattern(translated: Translated, options: RegexOptions): Pattern {
  const flags = `dgu${options.ignoreCase ? 'i' : ''}${options.dotAll ? 's' : ''}`
  let compiled: RegExp
  try {
    compiled = new RegExp(translated.source, flags)
  } catch (error) {
    throw new RegexFault((error as Error).message.replace(/^Invalid regular expression: /, ''))
  }
  const groups = (new RegExp(`${translated.source}|`, flags).exec('')?.length ?? 1) - 1
  const names = groupNames(translated.source, groups)
  const find = (text: string, from: number): readonly number[] | undefined => {
    if (text.length > LONGEST_TEXT) throw new RegexFault(`the text is longer than ${LONGEST_TEXT} characters, the most a backtracking engine may search`, 'search a shorter text, or set sonatina.expressions.regex=linear')
    compiled.lastIndex = from
    const indices = compiled.exec(text)?.indices as readonly (readonly [number, number] | undefined)[] | undefined
    return indices?.flatMap((range) => range ?? [-1, -1])
  }
  return { names, size: 1, find, test: (text) => find(text, 0) !== undefined }
}

/** Lists the names of groups in the order of their opening parentheses. */
function groupNames(source: string, groups: number): (string | null)[] {
  const names: (string | null)[] = []
  const opening = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?!\?)|\(\?<(?![=!])(\w+)>/g
  for (const [text, name] of source.matchAll(opening)) {
    if (text.startsWith('(')) names.push(name ?? null)
  }
  return names.slice(0, groups)
}
