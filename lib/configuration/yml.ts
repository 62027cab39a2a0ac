import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'
import type { Node } from 'yaml'
import { isNestedDeeper } from '../common/index.ts'
import type { FileEntry, ParsedFile } from './properties.ts'
import { joinSegments } from './key.ts'

// Read for the first file in YAML: most settings are properties.
let library: typeof Yaml | undefined
const yaml = (): typeof Yaml => library ??= createRequire(import.meta.url)('yaml') as typeof Yaml

// Keys of settings are a dozen segments long.
const MAX_NESTING = 200

/** What a `.yml` settings file holds; `problem` is set, with its line, when it does not parse. */
export interface ParsedYml extends ParsedFile {
  readonly problem?: { readonly message: string; readonly line: number }
}

/**
 * Parses the text of a `.yml` settings file into flat keys.
 *
 * Maps nest with dots, a segment that holds a dot is quoted, `~` or `null` as a key stands for the parent itself, lists of
 * plain values become comma lists, and a top-level `"%dev"` map holds the entries of that profile (configuration.md §1).
 */
export function parseYml(text: string): ParsedYml {
  if (isNestedDeeper(text, MAX_NESTING)) return { entries: [], warnings: [], problem: { message: `nests deeper than ${MAX_NESTING} levels`, line: 1 } }
  const counter = new (yaml().LineCounter)()
  const document = yaml().parseDocument(text, { lineCounter: counter, uniqueKeys: false, maxAliasCount: 100 } as object)
  const error = document.errors[0]
  if (error) {
    return { entries: [], warnings: [], problem: { message: error.message.split('\n', 1)[0] ?? '', line: counter.linePos(error.pos[0]).line } }
  }
  const entries = new Map<string, FileEntry>()
  const walk = (node: Node | null, path: readonly string[], line: number): void => {
    if (yaml().isMap(node)) {
      for (const pair of node.items) {
        const key = yaml().isScalar(pair.key) ? scalarText(pair.key) : ''
        const at = yaml().isScalar(pair.key) && pair.key.range ? counter.linePos(pair.key.range[0]).line : line
        walk(pair.value as Node | null, key === '' || key === '~' ? path : [...path, key], at)
      }
      return
    }
    const key = keyOf(path)
    if (yaml().isSeq(node)) {
      const items = node.items as (Node | null)[]
      if (items.every((item) => yaml().isScalar(item))) {
        entries.set(key, { key, line, value: items.map((item) => scalarText(item).replaceAll(',', '\\,')).join(',') })
      } else {
        for (const [index, item] of items.entries()) walk(item, [...path.slice(0, -1), `${path.at(-1) ?? ''}[${index}]`], line)
      }
      return
    }
    entries.set(key, { key, line, value: scalarText(node) })
  }
  if (document.contents !== null) walk(document.contents, [], 1)
  entries.delete('')
  return { entries: [...entries.values()], warnings: [] }
}

// A key may be written nested or in one line (`quarkus.http.port: 8081`), so a plain dotted key is split again by its dots.
function keyOf(path: readonly string[]): string {
  return path
    .map((part) => (/["%]/.test(part) || /^[\w-]+(\.[\w-]+)*$/.test(part) ? part : joinSegments([part])))
    .join('.')
}

function scalarText(node: unknown): string {
  if (!yaml().isScalar(node) || node.value === null || node.value === undefined) return ''
  return typeof node.value === 'string' ? node.value : (node.source ?? JSON.stringify(node.value))
}
