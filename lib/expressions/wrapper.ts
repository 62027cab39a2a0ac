import type { ExpressionLanguageName } from './evaluator.ts'
import { SyntaxFault } from './syntax-fault.ts'

/** A part of a text: plain, or the inside of `${ … }` with its offset in the text. */
export type TextPart = string | { readonly expression: string; readonly offset: number }

/** What the wrappers of a text say: the whole is an expression, some parts are, or there is none. */
export type Wrapped =
  | { readonly kind: 'whole'; readonly expression: string; readonly offset: number }
  | { readonly kind: 'parts'; readonly parts: readonly TextPart[] }
  | { readonly kind: 'bare'; readonly expression: string; readonly offset: number }

/**
 * Finds the wrappers `${ … }` and `{{ … }}` of a text (expressions.md "Texts, wrappers and references").
 *
 * Scans by balanced braces and the strings of the language, so braces in texts and comments do not count.
 *
 * @throws {@link SyntaxFault} for a wrapper that is not closed, unless `lenient`.
 */
export function unwrap(text: string, language: ExpressionLanguageName, lenient: boolean): Wrapped {
  const start = text.length - text.trimStart().length
  const end = text.trimEnd().length
  const legacy = text.startsWith('{{', start)
  if (legacy || text.startsWith('${', start)) {
    const close = legacy ? legacyClose(text, end) : findClose(text, start + 2, language)
    if (close === -1) {
      if (!lenient) throw new SyntaxFault(`${legacy ? '{{' : '${'} is not closed`, start, `write ${legacy ? '}}' : '}'} at the end`)
      return whole(text, start + 2, end)
    }
    if (legacy || close === end - 1) return whole(text, start + 2, close)
  }
  const parts = splitParts(text, language)
  return parts.length === 1 ? { kind: 'bare', expression: text.slice(start, end), offset: start } : { kind: 'parts', parts }
}

function whole(text: string, start: number, end: number): Wrapped {
  const inner = text.slice(start, end)
  return { kind: 'whole', expression: inner.trim(), offset: start + inner.length - inner.trimStart().length }
}

function legacyClose(text: string, end: number): number {
  return text.endsWith('}}', end) ? end - 2 : -1
}

function splitParts(text: string, language: ExpressionLanguageName): TextPart[] {
  const parts: TextPart[] = []
  let at = 0
  for (let open = text.indexOf('${'); open !== -1; open = text.indexOf('${', at)) {
    const close = findClose(text, open + 2, language)
    if (close === -1) break
    if (open > at) parts.push(text.slice(at, open))
    const inner = text.slice(open + 2, close)
    parts.push({ expression: inner.trim(), offset: open + 2 + inner.length - inner.trimStart().length })
    at = close + 1
  }
  if (at < text.length || parts.length === 0) parts.push(text.slice(at))
  // A single expression with nothing around it was found before.
  return parts.length === 1 && typeof parts[0] !== 'string' ? [...parts, ''] : parts
}

/** Finds the brace that closes one opened before `start`; -1 when there is none. */
function findClose(text: string, start: number, language: ExpressionLanguageName): number {
  let depth = 1
  for (let at = start; at < text.length; at += 1) {
    const char = text[at] ?? ''
    if (char === '"' || (language !== 'jq' && (char === '\'' || char === '`'))) at = skipString(text, at, language)
    else if (language === 'jq' && char === '#') at = skipComment(text, at)
    else if (char === '{') depth += 1
    else if (char === '}' && (depth -= 1) === 0) return at
  }
  return -1
}

/** Gives the offset of the closing quote, or the end of the text. */
function skipString(text: string, start: number, language: ExpressionLanguageName): number {
  const quote = text[start]
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === quote) return at
    if (text[at] !== '\\') continue
    at += 1
    if (language === 'jq' && text[at] === '(') at = skipInterpolation(text, at + 1)
  }
  return text.length
}

function skipInterpolation(text: string, start: number): number {
  let depth = 1
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '"') at = skipString(text, at, 'jq')
    else if (text[at] === '(') depth += 1
    else if (text[at] === ')' && (depth -= 1) === 0) return at
  }
  return text.length
}

function skipComment(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}
