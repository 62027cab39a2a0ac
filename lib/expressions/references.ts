import { nearestNames } from '../common/index.ts'
import { DefinitionError } from '../errors/index.ts'
import type { Site } from './evaluator.ts'

const REFERENCE = /^fn:\s*([\w.-]+)$/

/** A text behind `fn:` references: the operation of the last function of the chain. */
export interface Resolved {
  /** The text to compile; the operation when the text was a reference. */
  readonly text: string
  /** Name of the function it came from. */
  readonly function?: string
}

/** Tells whether a text refers to an expression function: `fn:name`. */
export function isReference(text: string): boolean {
  return REFERENCE.test(text.trim())
}

/**
 * Follows `fn:name` to the operation of that expression function, transitively.
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for an unknown name or a cycle.
 */
export function resolveReference(text: string, functions: ReadonlyMap<string, string>, site: Site, unwrapped: (text: string) => string): Resolved {
  let current = text
  const chain: string[] = []
  for (let name = nameOf(unwrapped(current)); name !== undefined; name = nameOf(unwrapped(current))) {
    const operation = functions.get(name)
    if (operation === undefined) throw invalid(site, `expression function ${JSON.stringify(name)} does not exist`, adviseFunction(name, [...functions.keys()]))
    if (chain.includes(name)) {
      throw invalid(site, `expression functions refer to each other without end: ${[...chain, name].join(' -> ')}`, 'write out the operation of one of them')
    }
    chain.push(name)
    current = operation
  }
  const last = chain.at(-1)
  return last === undefined ? { text: current } : { text: current, function: last }
}

function nameOf(text: string): string | undefined {
  return REFERENCE.exec(text.trim())?.[1]
}

function adviseFunction(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'the definition has no expression functions'
  const [close] = nearestNames(name, known)
  return close === undefined ? `known: ${known.join(', ')}` : `did you mean ${close}?`
}

function invalid(site: Site, message: string, hint: string): DefinitionError {
  return new DefinitionError({
    code: 'DEFINITION_INVALID',
    message: `${message}${site.pointer === '' ? '' : ` (${site.pointer})`}; ${hint}`,
    violations: [{ pointer: site.pointer, message, hint, ...(site.line !== undefined && { line: site.line }) }],
  })
}
