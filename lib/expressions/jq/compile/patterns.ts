import type { Json } from '../../../common/index.ts'
import { readKey } from '../access.ts'
import { JqError } from '../failure.ts'
import { Env } from '../run.ts'
import type { Binder } from './loops.ts'
import { single, type Filter } from './filter.ts'

/** A compiled pattern; slots are positions in the list of all variables of the pattern. */
export type CompiledPattern =
  | { readonly kind: 'name'; readonly slot: number }
  | { readonly kind: 'items'; readonly items: readonly CompiledPattern[] }
  | { readonly kind: 'members'; readonly members: readonly CompiledMember[] }

/** One member of an object pattern. */
export interface CompiledMember {
  readonly key: Filter
  readonly slot?: number
  readonly pattern?: CompiledPattern
}

/** Makes the binder of one pattern, or of several joined by `?//`; `size` is the number of their variables. */
export function binder(patterns: readonly CompiledPattern[], size: number): Binder {
  const [pattern] = patterns
  if (patterns.length === 1 && pattern?.kind === 'name') return nameBinder()
  if (patterns.length === 1 && pattern !== undefined) return patternBinder(pattern, size)
  return alternativesBinder(patterns, size)
}

function nameBinder(): Binder {
  const bindOne = (value: Json, env: Env): Env => new Env(value, env, env.run)
  return { size: 1, plain: true, single: true, bindOne, bind: (value, env, next) => next(bindOne(value, env)) }
}

function patternBinder(pattern: CompiledPattern, size: number): Binder {
  const bind: Binder['bind'] = (value, env, next) => {
    const slots = new Array<Json>(size).fill(null)
    return destructure(pattern, value, env, slots, () => next(push(slots, env)))
  }
  return {
    size,
    plain: false,
    single: hasOneWay(pattern),
    bind,
    bindOne: (value, env) => {
      let bound = env
      bind(value, env, (inner) => {
        bound = inner
        return false
      })
      return bound
    },
  }
}

// A failure of one pattern, or of the body under it, leads to the next; the last one may fail.
function alternativesBinder(patterns: readonly CompiledPattern[], size: number): Binder {
  const bind: Binder['bind'] = (value, env, next) => {
    for (const pattern of patterns.slice(0, -1)) {
      const slots = new Array<Json>(size).fill(null)
      try {
        return destructure(pattern, value, env, slots, () => next(push(slots, env)))
      } catch (error) {
        if (!(error instanceof JqError)) throw error
      }
    }
    const slots = new Array<Json>(size).fill(null)
    return destructure(patterns.at(-1) as CompiledPattern, value, env, slots, () => next(push(slots, env)))
  }
  return { size, plain: false, single: false, bind, bindOne: (_value, env) => env }
}

function push(slots: readonly Json[], env: Env): Env {
  let inner = env
  for (const value of slots) inner = new Env(value, inner, env.run)
  return inner
}

function hasOneWay(pattern: CompiledPattern): boolean {
  if (pattern.kind === 'name') return true
  if (pattern.kind === 'items') return pattern.items.every(hasOneWay)
  return pattern.members.every(({ key, pattern: inner }) => single(key) !== undefined && (inner === undefined || hasOneWay(inner)))
}

function destructure(pattern: CompiledPattern, value: Json, env: Env, slots: Json[], next: () => boolean): boolean {
  if (pattern.kind === 'name') {
    slots[pattern.slot] = value
    return next()
  }
  if (pattern.kind === 'items') return destructureItems(pattern.items, pattern.items.length - 1, value, env, slots, next)
  return destructureMembers(pattern.members, 0, value, env, slots, next)
}

// jq takes the last item first; it shows where an item fails.
function destructureItems(
  items: readonly CompiledPattern[], position: number, value: Json, env: Env, slots: Json[], next: () => boolean,
): boolean {
  const item = items[position]
  if (item === undefined) return next()
  return destructure(item, readKey(value, position), env, slots, () => destructureItems(items, position - 1, value, env, slots, next))
}

function destructureMembers(
  members: readonly CompiledMember[], position: number, value: Json, env: Env, slots: Json[], next: () => boolean,
): boolean {
  const member = members[position]
  if (member === undefined) return next()
  const rest = (): boolean => destructureMembers(members, position + 1, value, env, slots, next)
  return member.key.each(value, env, (key) => {
    if (typeof key !== 'string') throw new JqError('Cannot index object with %0', [key])
    const found = readKey(value, key)
    if (member.slot !== undefined) slots[member.slot] = found
    return member.pattern === undefined ? rest() : destructure(member.pattern, found, env, slots, rest)
  })
}
