import { canonicalName, joinSegments, splitKey } from '../key.ts'
import { CATALOGUE } from './catalogue.ts'
import type { SettingDefinition } from './definition.ts'

/** A key brought to the one form under which all its spellings meet. */
export interface NormalKey {
  /** `sonatina.` spelling with canonical names, or the key itself when the catalogue does not know it. */
  readonly key: string
  readonly definition?: SettingDefinition
  /** Names that stood for the angle brackets, in order. */
  readonly names: readonly string[]
  /** 0 for the `sonatina.` spelling, more for an alias: the lower one wins within a source. */
  readonly rank: number
}

interface Pattern {
  readonly definition: SettingDefinition
  readonly text: string
  readonly rank: number
  readonly head: string
  readonly literal: number
  readonly expression: RegExp
}

const NAME = /<([\w-]+)>/g

const { exact, patterns } = compileCatalogue()
const cache = new Map<string, NormalKey>()
const CACHE_LIMIT = 10_000

/** Brings a key, in any spelling, to its normal form (configuration.md §2). */
export function normaliseKey(key: string): NormalKey {
  let found = cache.get(key)
  if (!found) {
    found = match(key)
    if (cache.size >= CACHE_LIMIT) cache.clear()
    cache.set(key, found)
  }
  return found
}

/** Gives every spelling of a normal key, the preferred one first. */
export function spellings(normal: NormalKey): readonly string[] {
  if (!normal.definition) return [normal.key]
  return [normal.definition.key, ...normal.definition.aliases].map((pattern) => fill(pattern, normal.names))
}

function match(key: string): NormalKey {
  const direct = exact.get(key)
  if (direct) return { key: direct.definition.key, definition: direct.definition, names: [], rank: direct.rank }
  let best: { pattern: Pattern; groups: string[] } | undefined
  for (const pattern of patterns) {
    if (!key.startsWith(pattern.head) || (best && pattern.literal <= best.pattern.literal)) continue
    const groups = pattern.expression.exec(key)
    if (groups) best = { pattern, groups: groups.slice(1) }
  }
  if (!best) return { key: joinSegments(splitKey(key)), names: [], rank: 0 }
  const kinds = [...best.pattern.text.matchAll(NAME)].map((found) => found[1] ?? '')
  const names = best.groups.map((group, index) => {
    const name = group.replace(/^"(.*)"$/, '$1')
    return kinds[index] === 'file' || kinds[index] === 'scheme' ? canonicalName(name) : name
  })
  const { definition, rank } = best.pattern
  return { key: fill(definition.key, names), definition, names, rank }
}

function fill(pattern: string, names: readonly string[]): string {
  let index = 0
  return pattern.replace(NAME, (whole, kind: string, offset: number) => {
    const name = names[index++] ?? ''
    const last = offset + whole.length === pattern.length
    // The rest of a transport's attribute keeps its dots.
    return last && kind === 'name' && pattern[offset - 2] === '>' ? name : joinSegments([name])
  })
}

function compileCatalogue(): { exact: Map<string, { definition: SettingDefinition; rank: number }>; patterns: Pattern[] } {
  const exactKeys = new Map<string, { definition: SettingDefinition; rank: number }>()
  const found: Pattern[] = []
  for (const definition of CATALOGUE.flatMap((section) => section.settings)) {
    for (const [rank, text] of [definition.key, ...definition.aliases].entries()) {
      if (!text.includes('<')) {
        exactKeys.set(text, { definition, rank })
      } else {
        const literal = text.replace(NAME, '').length
        found.push({ definition, text, rank, literal, head: text.slice(0, text.indexOf('<')), expression: toExpression(text) })
      }
    }
  }
  return { exact: exactKeys, patterns: found }
}

function toExpression(pattern: string): RegExp {
  let names = 0
  const source = pattern.replace(/[.\\+*?()[\]{}|^$]/g, '\\$&').replace(NAME, (whole, kind: string, offset: number, all: string) => {
    names++
    if (kind === 'direction') return '(incoming|outgoing)'
    const last = offset + whole.length === all.length
    const single = '("[^"]+"|[^.]+)'
    // A transport attribute follows its channel directly, so only one of the two may hold dots.
    if (last) return names === 1 || all[offset - 3] === '>' ? '(.+)' : single
    return all[offset + whole.length + 2] === '<' ? single : '("[^"]+"|.+)'
  })
  return new RegExp(`^${source}$`)
}
