import { compile, createBindings, type CompiledExpression } from '../../../lib/expressions/index.ts'
import { ExpressionError } from '../../../lib/errors/index.ts'
import type { Json } from '../../../lib/common/index.ts'
import type { CaseResult } from '../suite-result.ts'
import { sameValue, withoutSpecialNumbers } from './compare.ts'
import type { JqTest } from './jq-tests.ts'

/** Why a test of jq is not run; nothing else is a reason. */
type SkipReason = 'modules' | 'exact decimal literals' | 'process input' | 'look-around'

const LIMITS = { timeout: 10_000 }
const MODULES = /(?:^|\n)\s*(?:import|include|module)\b|\bmodulemeta\b|\bget_search_list\b/
const LOOK_AROUND = /\(\?<?[=!]/
const PROCESS = /\$ENV\b|\benv\b|\binput_filename\b|\b\$__prog_args\b|\binputs?\b|\bhalt(?:_error)?\b/
// A literal with more digits than a double holds, or beyond its range.
const EXACT = /\d{17,}|\d[eE][+-]?\d{3,}/

/** Runs one test of jq. */
export function runJqTest(test: JqTest, id: string, feature: string): CaseResult {
  const reason = failure(test)
  if (reason === undefined) return { id, feature, outcome: 'passed' }
  const skip = skipReason(test)
  return skip === undefined
    ? { id, feature, outcome: 'failed', reason: `${test.program}\n${reason}` }
    : { id, feature, outcome: 'skipped', reason: skip, missing: [skip] }
}

/** A failed test is skipped when what it needs is on the closed list of things we do not have. */
function skipReason(test: JqTest): SkipReason | undefined {
  if (MODULES.test(test.program)) return 'modules'
  if (LOOK_AROUND.test(test.program)) return 'look-around'
  if (PROCESS.test(test.program)) return 'process input'
  const data = test.kind === 'run' ? [test.program, test.input, ...test.outputs] : [test.program]
  return data.some((text) => EXACT.test(text)) ? 'exact decimal literals' : undefined
}

function failure(test: JqTest): string | undefined {
  let compiled: CompiledExpression
  try {
    compiled = compile('jq', test.program, { limits: LIMITS, variables: [] })
  } catch (error) {
    if (!(error instanceof ExpressionError)) return `not an expression error: ${String(error)}`
    return test.kind === 'refused' ? undefined : `does not compile: ${error.message}`
  }
  if (test.kind === 'refused') return 'compiles, but must be refused'
  const input = read(test.input)
  const outputs = evaluate(compiled, input)
  const expected = test.outputs.map(read)
  const printed = outputs.values.map((output) => read(print(output)))
  for (const [index, value] of expected.entries()) {
    if (index >= printed.length) return `output ${index + 1} is missing, expected ${JSON.stringify(value)}${outputs.error === undefined ? '' : `: ${outputs.error}`}`
    if (!sameValue(printed[index] ?? null, value)) return `output ${index + 1} is ${JSON.stringify(printed[index])}, expected ${JSON.stringify(value)}`
  }
  if (printed.length > expected.length) return `gives ${printed.length} outputs, expected ${expected.length}: ${JSON.stringify(printed[expected.length])}`
  return outputs.error === undefined || test.outputs.length === 0 || outputs.values.length === expected.length ? undefined : outputs.error
}

/** Collects outputs up to the first failure: jq's own runner sees those before it as well. */
function evaluate(compiled: CompiledExpression, input: Json): { values: readonly Json[]; error?: string } {
  const values: Json[] = []
  try {
    void compiled.each(input, createBindings({}), (output) => values.push(output))
    return { values }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return { values, error: error.message }
  }
}

/** Reads JSON as jq reads it: a byte order mark and `nan` are allowed. */
function read(text: string): Json {
  const plain = text.replace(/^\ufeff/, '')
  try {
    return JSON.parse(plain) as Json
  } catch {
    const [value] = compile('jq', 'fromjson').evaluate(plain, createBindings({})) as readonly Json[]
    return withoutSpecialNumbers(value ?? null)
  }
}

function print(value: Json): string {
  const [text] = compile('jq', 'tojson').evaluate(value, createBindings({})) as readonly Json[]
  return text as string
}
