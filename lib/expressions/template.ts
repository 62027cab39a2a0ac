import { isJsonObject, setOwn, toPointer, type Json } from '../common/index.ts'
import type { Bindings, Compiled, MaybePromise, Site } from './evaluator.ts'
import { deepFreeze } from './jq/value.ts'

/** A compiled text of a template: what it always is, or how it is computed. */
export type TemplateText = { readonly constant: string } | { readonly compiled: Compiled<Json> }

type Part = { readonly constant: Json } | { readonly evaluate: (input: Json, bindings: Bindings) => MaybePromise<Json> }

/**
 * Compiles a value with expressions at any depth (S174).
 *
 * What holds no expression is one frozen value, given out again and again; only containers of expressions are made anew.
 */
export function compileTemplate(value: Json, site: Site, sync: boolean, text: (text: string, site: Site) => TemplateText): Compiled<Json> {
  const part = compilePart(value, site, sync, text)
  if ('evaluate' in part) return part
  const { constant } = part
  deepFreeze(constant)
  return { evaluate: () => constant }
}

function compilePart(value: Json, site: Site, sync: boolean, text: (text: string, site: Site) => TemplateText): Part {
  if (typeof value === 'string') {
    const compiled = text(value, site)
    return 'constant' in compiled ? compiled : { evaluate: (input, bindings) => compiled.compiled.evaluate(input, bindings) }
  }
  const inner = (key: string | number): Site => ({ ...site, pointer: site.pointer + toPointer([key]) })
  if (Array.isArray(value)) {
    const parts = (value as readonly Json[]).map((item, index) => compilePart(item, inner(index), sync, text))
    return combine(parts, sync, (items) => items)
  }
  if (!isJsonObject(value)) return { constant: value }
  const keys = Object.keys(value)
  const parts = keys.map((key) => compilePart(value[key] as Json, inner(key), sync, text))
  return combine(parts, sync, (members) => {
    const result: Record<string, unknown> = {}
    for (let index = 0; index < keys.length; index += 1) setOwn(result, keys[index] as string, members[index])
    return result as Json
  })
}

function combine(parts: readonly Part[], sync: boolean, build: (values: readonly Json[]) => Json): Part {
  if (parts.every((part) => 'constant' in part)) return { constant: build(parts.map((part) => part.constant)) }
  const run = (part: Part, input: Json, bindings: Bindings): MaybePromise<Json> => 'constant' in part ? part.constant : part.evaluate(input, bindings)
  for (const part of parts) if ('constant' in part) deepFreeze(part.constant)
  if (!sync) return { evaluate: async (input, bindings) => build(await Promise.all(parts.map(async (part) => run(part, input, bindings)))) }
  return {
    evaluate: (input, bindings) => {
      const values = new Array<Json>(parts.length)
      for (let index = 0; index < parts.length; index += 1) values[index] = run(parts[index] as Part, input, bindings) as Json
      return build(values)
    },
  }
}
