import type jsonata from 'jsonata'
import type { ExpressionLimits } from '../limits.ts'
import { charge, tooLarge, type Base } from './usage.ts'

/** Key that the library looks up a function under, which it calls after each node of a program. */
const AFTER_NODE = Symbol.for('jsonata.__evaluate_exit')
/** Key of the function that it calls before each node. */
const BEFORE_NODE = Symbol.for('jsonata.__evaluate_entry')
// Programs without loops multiply a value once for each part of their text.
const MOST_NODES = 60
// What the library copies, compares and writes out, it walks through without a look at the clock.
const LARGEST_TREE = 2_000_000
// Remembering the size of a small value costs more than counting it again.
const WORTH_REMEMBERING = 16
// The wildcard copies its list for each member that is a list.
const MOST_MEMBERS = 10_000

type Node = Readonly<Record<string, unknown>>
type Hook = (node: Node, input: unknown, environment: { readonly base: Base }, result: unknown) => void

/**
 * Makes the program count what it builds, if it can build more than its text and its input promise.
 *
 * Values share parts: `$f({"a": $x, "b": $x})`, forty times, is a value of 80 cells and a tree of 2^40. The library walks through
 * trees, so each value that a program builds has a size as a tree, and the program ends where that is too large.
 */
export function watchGrowth(compiled: jsonata.Expression, limits: ExpressionLimits): void {
  const kinds = kindsOf(compiled.ast())
  const assign = (key: symbol, hook: Hook): void => { compiled.assign(key as unknown as string, hook) }
  if (kinds.has('wildcard')) assign(BEFORE_NODE, (node, input) => { if (node['type'] === 'wildcard') checkMembers(input, limits) })
  if (kinds.has('lambda') || kinds.has('..') || kinds.has('transform') || kinds.has(TOO_MANY)) assign(AFTER_NODE, makeHook(kinds.has('transform'), limits))
}

const TOO_MANY = 'more nodes than a program without loops may have'

/** Finds the types of nodes in a program, and the operator of ranges. */
function kindsOf(program: unknown): ReadonlySet<string> {
  const kinds = new Set<string>()
  const seen = new Set<unknown>()
  const pending: unknown[] = [program]
  let nodes = 0
  for (let next = pending.pop(); pending.length > 0 || next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    const { type, value } = next as Node
    if (typeof type === 'string') {
      kinds.add(type === 'binary' && value === '..' ? value : type)
      if ((nodes += 1) > MOST_NODES) kinds.add(TOO_MANY)
    }
    pending.push(...Object.values(next) as readonly unknown[])
  }
  return kinds
}

function makeHook(changes: boolean, limits: ExpressionLimits): Hook {
  const sizes = new WeakMap<Base, Map<object, number>>()
  const most = Math.min(LARGEST_TREE, limits.maxCells)
  return ({ type, value, group }, _input, { base }, result) => {
    const makes = type === 'unary' ? value === '[' || value === '{' : type === 'binary' ? value === '..' : type === 'function' || type === 'apply'
    if (typeof result !== 'object' || result === null || !(makes || group !== undefined)) return
    if (Array.isArray(result) && type !== 'function') charge(base, result.length, limits)
    let known = sizes.get(base)
    // A transformation changes the copy that it has made, so sizes do not stay what they were.
    if (known === undefined || changes) sizes.set(base, known = new Map<object, number>())
    if (sizeOf(result, known, most) > most) throw tooLarge(limits.maxCells)
  }
}

/** Counts the values in a tree, as often as they are shared; what is beyond `most` may be left out. */
function sizeOf(value: object, known: Map<object, number>, most: number): number {
  if (isLibraryFunction(value)) return 1
  const before = known.get(value)
  if (before !== undefined) return before
  let size = 1
  for (const member of Object.values(value) as readonly unknown[]) {
    size += typeof member === 'object' && member !== null ? sizeOf(member, known, most) : 1
    if (size > most) break
  }
  if (size >= WORTH_REMEMBERING) known.set(value, size)
  return size
}

/** Tells whether a value is a function of a program or of the library, and no data. */
export function isLibraryFunction(value: object): boolean {
  return Object.hasOwn(value, '_jsonata_lambda') || Object.hasOwn(value, '_jsonata_function')
}

function checkMembers(input: unknown, { maxCells }: ExpressionLimits): void {
  if (typeof input !== 'object' || input === null) return
  const members = Object.values(input) as readonly unknown[]
  if (members.length > MOST_MEMBERS && members.filter((member) => Array.isArray(member)).length > MOST_MEMBERS) throw tooLarge(maxCells)
}
