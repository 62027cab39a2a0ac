import { SyntaxFault } from '../syntax-fault.ts'
import { offsetInText, type PathPart } from './split.ts'

/** What would be right, by what the library says. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/unclosed bracketed selection/, 'write ] where it ends'],
  [/unclosed string/, 'write the closing quote where the text ends'],
  [/filter selector token '=/, 'for equality write =='],
  [/filter selector token/, 'a filter compares: [?@.name == "x"], joined by &&, || and !'],
  [/unexpected end of expression/, 'write what stands behind the last operator, such as @.name'],
  [/no such function/, 'RFC 9535 has length, count, match, search and value'],
  [/must be compared/, 'compare it: length(@.name) > 2'],
  [/must be of|argument/, 'length and match take values such as @.name; count takes paths such as @.*'],
  [/bald descendant/, 'write a name or * behind ..'],
  [/empty bracketed/, 'write an index, a name in quotes, * or a filter between the brackets'],
  [/in bracketed selection/, 'names in brackets stand in quotes: ["name"]'],
  [/leading zero|index out of range/, 'an index is a whole number without leading zeros, up to 2^53'],
]

const OTHERWISE = 'a path is made of .name, ["name"], [0], [1:3], * and filters [?@.name == "x"]'

/** Turns a fault that the library finds in a path into one with its place in the text and a hint. */
export function toSyntaxFault(error: unknown, part: PathPart): SyntaxFault {
  if (error instanceof RangeError) return new SyntaxFault('the path is nested too deeply', part.offset, 'select in several steps')
  const { message = String(error), token } = error as { readonly message?: string; readonly token?: { readonly index: number } }
  // The library adds the surroundings in its own, normalised notation.
  const reason = message.replace(/ \('[^]*':\d+\)$/, '').replace(/ starting at index \d+$/, '')
  const hint = HINTS.find(([pattern]) => pattern.test(reason))?.[1] ?? OTHERWISE
  return new SyntaxFault(reason, token === undefined ? part.offset : offsetInText(part, token.index), hint)
}
