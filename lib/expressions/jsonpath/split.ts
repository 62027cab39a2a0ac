import { SyntaxFault } from '../syntax-fault.ts'

/** One path of a text: of the data, or of the variable `$name`; normalised to RFC 9535. */
export interface PathPart {
  /** Name of the variable the path starts at; absent for the data. */
  readonly variable?: string
  /** The path, `$` first. */
  readonly path: string
  readonly offset: number
  /** Where each step ends, in the path and in the text. */
  readonly steps: readonly { readonly path: number; readonly text: number }[]
}

/** Gives the offset in the text of a place in a path; steps are copied but for their beginning. */
export function offsetInText({ path, steps, offset }: PathPart, at: number): number {
  const step = steps.find((candidate) => candidate.path > at)
  const last = steps.at(-1) ?? { path: path.length, text: offset + 1 }
  return step === undefined ? last.text : Math.max(offset, step.text - (step.path - at))
}

const NAME = /[A-Za-z_\u0080-\uffff][\w\u0080-\uffff-]*/y
const OPERATOR = /^\s*(?:[-+*/=<>&|!~(]|=~)/

/**
 * Splits a text into paths and what stands between them; accepts the dialect of SonataFlow: `$.[…]`, dashes in names,
 * a path without `$`.
 *
 * @throws {@link SyntaxFault} for a text without path and for constructs that RFC 9535 does not have.
 */
export function splitPaths(text: string): (string | PathPart)[] {
  const parts: (string | PathPart)[] = []
  let plain = ''
  for (let at = 0; at < text.length;) {
    const bare = at === 0 && /^\.[A-Za-z_[]/.test(text)
    if (text[at] !== '$' && !bare) {
      plain += text[at] ?? ''
      at += 1
      continue
    }
    if (plain !== '') parts.push(plain)
    plain = ''
    const { part, end } = readPath(text, at, bare)
    parts.push(part)
    const operator = OPERATOR.exec(text.slice(end, end + 20))
    if (operator !== null) throw new SyntaxFault(`unexpected ${JSON.stringify(operator[0].trim())}`, end, explain(operator[0].trim()))
    at = end
  }
  if (plain !== '') parts.push(plain)
  if (parts.every((part) => typeof part === 'string')) {
    throw new SyntaxFault('this is no JSONPath', 0, 'a path starts with $, such as $.name')
  }
  return parts
}

function explain(operator: string): string {
  return operator.startsWith('(')
    ? 'functions behind a path are not part of RFC 9535; inside a filter write length(@.name)'
    : 'JSONPath selects and does not compute; put comparisons into a filter [?(…)]'
}

function readPath(text: string, start: number, bare: boolean): { part: PathPart; end: number } {
  let at = bare ? start : start + 1
  const variable = bare ? '' : match(NAME, text, at).replace(/-.*$/, '')
  at += variable.length
  let path = '$'
  const steps: { path: number; text: number }[] = []
  for (;;) {
    const step = readStep(text, at)
    if (step === undefined) break
    path += step.path
    at = step.end
    steps.push({ path: path.length, text: at })
  }
  return { part: { ...(variable !== '' && { variable }), path, offset: start, steps }, end: at }
}

function readStep(text: string, at: number): { path: string; end: number } | undefined {
  if (text[at] === '[') return readBrackets(text, at)
  if (text[at] !== '.') return undefined
  if (text[at + 1] === '[') return readBrackets(text, at + 1)
  const dots = text[at + 1] === '.' ? '..' : '.'
  const next = at + dots.length
  if (text[next] === '*') return { path: `${dots}*`, end: next + 1 }
  if (dots === '..' && text[next] === '[') {
    const { path, end } = readBrackets(text, next)
    return { path: `..${path}`, end }
  }
  const name = match(NAME, text, next)
  if (name === '') return undefined
  const end = next + name.length
  if (text[end] === '(') throw new SyntaxFault(`.${name}() is not part of RFC 9535`, at, `inside a filter write ${name}(@.…)`)
  return { path: dots === '..' ? `..['${name}']` : `['${name}']`, end }
}

function readBrackets(text: string, start: number): { path: string; end: number } {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"' || char === '\'') at = skipQuoted(text, at)
    else if (char === '[') {
      if (/^\[\s*\(/.test(text.slice(at, at + 20))) throw new SyntaxFault('script expressions [(…)] are not part of RFC 9535', at, 'use an index or a filter [?(…)]')
      depth += 1
    } else if (char === ']' && (depth -= 1) === 0) return { path: text.slice(start, at + 1), end: at + 1 }
    else if (text.startsWith('=~', at)) throw new SyntaxFault('=~ is not part of RFC 9535', at, 'write match(@.name, "pattern") or search(@.name, "pattern")')
    else if (/^\.(?:length|size|min|max|avg|sum|keys)\(\)/.test(text.slice(at, at + 12))) {
      throw new SyntaxFault('functions behind a path, such as .length(), are not part of RFC 9535', at, 'write length(@.name)')
    }
  }
  throw new SyntaxFault('[ is not closed', start, 'write ] where it ends')
}

function skipQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === text[start]) return at
  }
  return text.length
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}
