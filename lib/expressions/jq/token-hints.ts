import type { Token } from './scanner.ts'

const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
const CONDITIONAL: ReadonlySet<string> = new Set(['then', 'elif', 'else', 'end'])

/** Says what to write where a token stands that nothing can be made of. */
export function hintForUnexpected(token: Token, previous: Token | undefined): string {
  switch (token.type) {
    case 'operator': return hintForOperator(token.text, previous)
    case 'keyword': return hintForKeyword(token.text)
    case 'name': return 'join filters with |, or put the text in quotes'
    case 'end': return 'write the rest of it'
    default: return 'join the two with | or an operator, or separate them with a comma'
  }
}

/** Says what to write where an operand is missing. */
export function hintForMissing(token: Token, previous: Token | undefined): string {
  if (token.type === 'keyword') return hintForKeyword(token.text)
  if (token.type === 'operator' && (token.text === '=' || token.text === '|')) return hintForOperator(token.text, previous)
  if (token.type === 'operator' && token.text === ';') return 'an argument is missing: functions are called as f(.a; .b)'
  if (previous === undefined) return token.type === 'end' ? 'write a filter, such as .name' : `write what stands before "${token.text}", such as .name`
  const before = token.type === 'end' || Object.hasOwn(CLOSING, token.text) ? 'behind' : `between "${token.text}" and`
  if (previous.text === '[' && token.type === 'end') return 'write what belongs into the brackets, and ] where they end'
  return previous.text === '.'
    ? 'write a name behind the dot, such as .name, or remove the dot'
    : `write what stands ${before} "${signOf(previous)}", such as .name`
}

function hintForOperator(text: string, previous: Token | undefined): string {
  if (text === '=') return 'for equality write =='
  if (text === '|') return previous?.text === '|' ? 'for a logical or write "or"' : 'write a filter before the |, such as .name'
  if (text === ';') return 'a semicolon stands only between the arguments of a function: f(.a; .b)'
  if (text === ':') return 'a colon stands between a key and its value: {key: .name}'
  const opening = Object.hasOwn(CLOSING, text) ? CLOSING[text] : undefined
  if (opening !== undefined) return `no "${opening}" is open here: remove it, or close what was opened behind the "${opening}"`
  return `write an operand on both sides of "${text}", or remove it`
}

function hintForKeyword(text: string): string {
  return CONDITIONAL.has(text)
    ? `"${text}" belongs to if … then … else … end; as a field write ."${text}"`
    : `"${text}" is a word of jq; as a field write ."${text}"`
}

function signOf({ type, text }: Token): string {
  if (type === 'field') return `.${text}`
  return type === 'variable' ? `$${text}` : text
}
