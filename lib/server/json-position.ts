/** Finds where a text stops being JSON; only called for text that `JSON.parse` refused. */
export function findJsonFault(text: string): { readonly position: number; readonly line: number; readonly column: number } {
  const position = scan(text)
  const before = text.slice(0, position)
  const line = before.split('\n').length
  return { position, line, column: position - before.lastIndexOf('\n') }
}

const BLANK = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const LITERAL = /true|false|null/y

type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'next' | 'nothing'

// A stack instead of recursion: the text may be nested as deeply as its length allows.
function scan(text: string): number {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  let position = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = position
    if (!pattern.test(text)) return false
    position = pattern.lastIndex
    return true
  }
  const takeString = (): boolean => {
    if (!take(STRING) || text[position] !== '"') return false
    position++
    return true
  }
  const after = (): Expected => (open.length === 0 ? 'nothing' : 'next')
  for (;;) {
    take(BLANK)
    const character = text[position]
    if (character === undefined || expected === 'nothing') return position
    if (expected === 'colon') {
      if (character !== ':') return position
      position++
      expected = 'value'
    } else if (expected === 'next') {
      const inObject = open.at(-1) === '{'
      if (character === ',') expected = inObject ? 'key' : 'value'
      else if (character === (inObject ? '}' : ']')) { open.pop(); expected = after() }
      else return position
      position++
    } else if (expected === 'key' || expected === 'keyOrEnd') {
      if (character === '}' && expected === 'keyOrEnd') { open.pop(); position++; expected = after() }
      else if (takeString()) expected = 'colon'
      else return position
    } else if (character === '{' || character === '[') {
      open.push(character)
      position++
      expected = character === '{' ? 'keyOrEnd' : 'valueOrEnd'
    } else if (character === ']' && expected === 'valueOrEnd') {
      open.pop()
      position++
      expected = after()
    } else if (character === '"' ? takeString() : take(NUMBER) || take(LITERAL)) {
      expected = after()
    } else {
      return position
    }
  }
}
