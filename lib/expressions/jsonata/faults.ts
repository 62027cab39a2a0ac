import { SyntaxFault } from '../syntax-fault.ts'

const NAME_HINT = 'variables begin with $: $name'

/** What would be right, by the library's codes of syntax errors. */
const HINTS: Readonly<Record<string, string>> = {
  S0101: 'write the closing quote where the text ends',
  S0102: 'numbers reach up to 1.8e308',
  S0103: 'write \\\\ for a backslash',
  S0104: 'such as \\u00e9; write \\\\ for a backslash',
  S0105: 'write the closing ` behind the name',
  S0106: 'write */ where the comment ends',
  S0201: 'join expressions with an operator; several steps stand in ( … ; … )',
  S0204: 'operators are + - * / % & = != < <= > >= and or in ~> := ..',
  S0205: 'remove it, or write what it belongs to',
  S0206: 'remove it, or put it into parentheses',
  S0207: 'write what stands behind the last operator, such as a field name',
  S0208: NAME_HINT,
  S0209: 'put the predicate [ … ] before the grouping { … }',
  S0210: 'group once, and give the second grouping the result: (a{…}).{…}',
  S0211: 'write what stands before it; for equality write =, for "and" write and',
  S0212: `${NAME_HINT} := …`,
  S0213: 'a field name that is a number stands in backquotes: a.`1`; an index in brackets: a[1]',
  S0214: NAME_HINT,
  S0215: 'write @$name or #$name right behind the step, before [ … ]',
  S0216: 'write @$name right behind the step, before ^( … )',
  S0217: '% is the parent of a step and needs a path before it, such as a.b.{"c": %.d}',
  S0301: 'write a pattern between the slashes, such as /[a-z]+/',
  S0302: 'write / where the pattern ends; for division write a / b',
  S0401: 'write the type in < > behind f or a only, such as a<n>',
  S0402: 'list simple types only, such as (sn)',
}

/** An error of the library, which throws plain objects. */
interface LibraryFault {
  readonly code?: string
  readonly message?: string
  readonly position?: number
  readonly token?: string | number
  readonly value?: string | number
}

/** Turns a syntax error of the library into a fault with a place and a hint. */
export function toSyntaxFault(error: unknown, text: string): SyntaxFault {
  const { code = '', message = String(error), position, token, value } = error as LibraryFault
  const isEnd = token === '(end)'
  // The library tells where the token ends, and of the parent operator only that there is one.
  const shown = String(code === 'S0213' ? value : token ?? '')
  const start = code === 'S0217' ? text.indexOf('%') : (position ?? 0) - shown.length
  const offset = isEnd ? text.trimEnd().length : Math.max(0, start)
  return new SyntaxFault(message, offset, code === 'S0202' || code === 'S0203' ? hintForExpected(String(value), isEnd) : HINTS[code] ?? HINTS['S0201'] ?? '')
}

function hintForExpected(expected: string, isEnd: boolean): string {
  return isEnd ? `write ${expected} there` : `write ${expected} before it, or remove it`
}
