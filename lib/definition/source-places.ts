import { parseDocument, type ParsedDocument, type Position, type TextPlace } from './parse.ts'
import type { DefinitionSource } from './types.ts'

/** A place in the author's files; `file` is there when it is not the definition's own. */
export interface SourcePlace extends Position {
  readonly file?: string
}

/** A part that came from another file: that file, and the pointer inside it. */
interface Origin {
  readonly parsed: ParsedDocument
  readonly pointer: string
}

/** Finds where a JSON pointer of a definition, or a character of the text there, stands in its files. */
export type SourceLocator = (pointer: string, place?: TextPlace) => SourcePlace | undefined

/**
 * Creates what finds places of a loaded definition in the files it came from, external references included.
 *
 * The files are parsed when the first place is asked for, since most definitions have no faults. Gives `undefined` for a definition
 * that did not come from text.
 */
export function createSourceLocator({ uri, format, text, resources, origins = {}, generated }: DefinitionSource): SourceLocator {
  if (generated === true) return () => undefined
  let files: { readonly parsed: ParsedDocument; readonly parts: ReadonlyMap<string, Origin> } | undefined
  const parse = (): NonNullable<typeof files> => ({
    parsed: parseDocument(text, { uri, format }),
    parts: new Map(Object.entries(origins).map(([prefix, { uri: file, pointer }]) =>
      [prefix, { parsed: parseDocument(resources[file] ?? '', { uri: file }), pointer }])),
  })
  return (pointer, place) => {
    files ??= parse()
    return findPlace(files.parsed, files.parts, pointer, place)
  }
}

/** Finds a place in a document and the parts that came from other files; what is missing is told as the nearest place around it. */
export function findPlace(parsed: ParsedDocument, origins: ReadonlyMap<string, Origin>, pointer: string, place?: TextPlace): SourcePlace | undefined {
  for (const [prefix, origin] of origins) {
    if (pointer === prefix || pointer.startsWith(`${prefix}/`)) {
      const position = nearestPosition(origin.parsed, origin.pointer + pointer.slice(prefix.length), place)
      return position === undefined ? undefined : { file: origin.parsed.uri, ...position }
    }
  }
  return nearestPosition(parsed, pointer, place)
}

function nearestPosition(parsed: ParsedDocument, pointer: string, place: TextPlace | undefined): Position | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const position = parsed.position(at, at === pointer ? place : undefined)
    if (position !== undefined || at === '') return position
  }
}
