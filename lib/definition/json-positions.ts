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

const OPENING = new Set(['{', '['])
const CLOSING = new Set(['}', ']'])
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
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const frame = stack.at(-1)
    if (token === ',' && frame !== undefined) {
      nextMember(frame)
    } else if (CLOSING.has(token)) {
      stack.pop()
    } else if (frame?.kind === 'object' && frame.key === undefined) {
      if (!takeKey(frame, JSON.parse(token) as string)) duplicates.push(pointerOf(frame))
    } else if (token !== ':') {
      const pointer = frame === undefined ? '' : pointerOf(frame)
      offsets.set(pointer, index)
      if (OPENING.has(token)) stack.push(createFrame(token, pointer))
    }
  }
  return { offsets, duplicates }
}

function createFrame(token: string, pointer: string): Frame {
  return { kind: token === '{' ? 'object' : 'array', pointer, keys: new Set(), key: undefined, index: 0 }
}

function nextMember(frame: Frame): void {
  frame.key = undefined
  frame.index += 1
}

/** Takes the key of the next member; false when the object has it already. */
function takeKey(frame: Frame, key: string): boolean {
  const isNew = !frame.keys.has(key)
  frame.key = key
  frame.keys.add(key)
  return isNew
}

function pointerOf(frame: Frame): string {
  return frame.pointer + toPointer([frame.key ?? frame.index])
}
