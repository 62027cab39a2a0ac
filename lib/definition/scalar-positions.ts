/** How a text is written in its file. */
export type Notation = 'double-quoted' | 'single-quoted' | 'plain' | 'block'

/** One character of a value, and where it stands in the source: from the first character of its escape to behind the last. */
interface Mark {
  readonly char: string
  readonly start: number
  readonly end: number
}

const BLANK = /[ \t\r\n]/
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|\r?\n|([^]))/y
const ESCAPED: Readonly<Record<string, string>> = {
  0: '\0', a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r', e: '\x1b', N: '\x85', _: '\xa0', L: '\u2028', P: '\u2029',
}

/**
 * Finds where the character at an offset of a value stands in the source of that value: a JSON string or a YAML scalar, quotes or
 * block header included.
 *
 * Line folding and indentation change nothing but blanks, so the other characters are matched one by one; gives `undefined` when
 * they differ, since the position would be a guess.
 */
export function findInScalar(source: string, notation: Notation, value: string, offset: number): number | undefined {
  const marks = marksOf(source, notation)
  let found: number | undefined
  let next = 0
  for (let at = 0; at <= value.length; at += 1) {
    const char = value[at]
    const isMark = char !== undefined && !BLANK.test(char)
    if (isMark && marks[next]?.char !== char) return undefined
    if (at === offset) found = isMark ? marks[next]?.start : blankAt(source, notation, marks[next - 1], at - lastMark(value, at))
    if (isMark) next += 1
  }
  return next === marks.length ? found : undefined
}

/** Gives the offset of the last character before an offset that is no blank; -1 without one. */
function lastMark(value: string, offset: number): number {
  return value.slice(0, offset).trimEnd().length - 1
}

/** A blank stands as many places behind the character before it as in the value, unless lines were folded in between. */
function blankAt(source: string, notation: Notation, before: Mark | undefined, distance: number): number {
  const from = before?.end ?? contentStart(source, notation)
  const between = source.slice(from, from + distance - 1)
  return /^[ \t]*$/.test(between) ? from + distance - 1 : from
}

function contentStart(source: string, notation: Notation): number {
  if (notation === 'plain') return 0
  if (notation !== 'block') return 1
  const end = source.indexOf('\n')
  return end === -1 ? source.length : end + 1
}

/** Lists the characters of a scalar that are no blanks, escapes read. */
function marksOf(source: string, notation: Notation): readonly Mark[] {
  const marks: Mark[] = []
  const isQuoted = notation === 'double-quoted' || notation === 'single-quoted'
  const end = isQuoted ? source.length - 1 : source.length
  for (let start = contentStart(source, notation); start < end;) {
    const { text, length } = readCharacter(source, start, notation)
    for (const char of text.split('')) {
      if (!BLANK.test(char)) marks.push({ char, start, end: start + length })
    }
    start += length
  }
  return marks
}

function readCharacter(source: string, start: number, notation: Notation): { readonly text: string; readonly length: number } {
  const char = source.charAt(start)
  if (notation === 'single-quoted' && source.startsWith('\'\'', start)) return { text: '\'', length: 2 }
  if (notation !== 'double-quoted' || char !== '\\') return { text: char, length: 1 }
  ESCAPE.lastIndex = start
  const [escape = char, four, eight, two, letter] = ESCAPE.exec(source) ?? []
  const code = four ?? eight ?? two
  const text = code === undefined ? letterOf(letter) : fromCode(Number.parseInt(code, 16))
  return { text, length: escape.length }
}

function letterOf(letter: string | undefined): string {
  // An escaped line end joins two lines without a blank.
  return letter === undefined ? '' : ESCAPED[letter] ?? letter
}

function fromCode(code: number): string {
  return code > 0x10ffff ? '' : String.fromCodePoint(code)
}
