import { toPointer } from '../common/index.ts'

/** Where the values of a JSON text stand. */
export interface JsonPositions {
  /** Offset of each value, by JSON pointer. */
  readonly offsets: ReadonlyMap<string, number>
  /** Pointers of keys that occur more than once in their object. */
  readonly duplicates: readonly string[]
}

interface Frame {
  readonly kind: 'object' | 'array'
  readonly pointer: string
  readonly keys: Set<string>
  key: string | undefined
  index: number
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Finds the offset of each value of a JSON text, and keys that are given twice.
 *
 * The text must be one that `JSON.parse` accepts. An explicit stack, not recursion: nesting is the author's choice.
 */
export function findJsonPositions(text: string): JsonPositions {
  const offsets = new Map<string, number>()
  const duplicates: string[] = []
  const stack: Frame[] = []
  for (const match of text.matchAll(TOKEN)) {
    const token = match[0]
    const frame = stack.at(-1)
    if (token === ',' || token === ':') {
      if (token === ',' && frame !== undefined) advance(frame)
    } else if (token === '}' || token === ']') {
      stack.pop()
    } else if (frame?.kind === 'object' && frame.key === undefined) {
      frame.key = JSON.parse(token) as string
      if (frame.keys.has(frame.key)) duplicates.push(frame.pointer + toPointer([frame.key]))
      frame.keys.add(frame.key)
    } else {
      const pointer = frame === undefined ? '' : frame.pointer + toPointer([frame.key ?? frame.index])
      offsets.set(pointer, match.index)
      if (token === '{') stack.push({ kind: 'object', pointer, keys: new Set(), key: undefined, index: 0 })
      if (token === '[') stack.push({ kind: 'array', pointer, keys: new Set(), key: undefined, index: 0 })
    }
  }
  return { offsets, duplicates }
}

function advance(frame: Frame): void {
  frame.key = undefined
  frame.index += 1
}
