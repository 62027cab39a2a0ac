import { createRandomIdSource, type Json } from '../../../lib/common/index.ts'
import { createBindings, createExpressions, type BindingsOptions, type Expressions, type ExpressionsOptions } from '../../../lib/expressions/index.ts'

/** Where the texts of these tests stand. */
export const SITE = { pointer: '/states/0/actions/0', line: 12 }

/** Makes expressions of profile `spec` with a clock that stands still. */
export function make(options: Partial<ExpressionsOptions> = {}): Expressions {
  return createExpressions({
    language: 'jq', profile: 'spec', clock: { now: () => 1_700_000_000_000, at: () => () => undefined }, ids: createRandomIdSource(), ...options,
  })
}

/** Evaluates a filter. */
export function run(text: string, input: Json = {}, bindings: BindingsOptions = {}, options: Partial<ExpressionsOptions> = {}): Json {
  return make(options).compileFilter(text, SITE).evaluate(input, createBindings(bindings)) as Json
}
