import { ExpressionError } from '../../../lib/errors/index.ts'
import { isJsonObject, type Json } from '../../../lib/common/index.ts'
import { compile, createBindings, type CompiledExpression } from '../../../lib/expressions/index.ts'
import { unwrap } from '../../../lib/expressions/wrapper.ts'
import { sameValue } from './compare.ts'
import type { Oracle } from './oracle.ts'
import { sonataflowExpressions, type Row } from './tables.ts'

/** One text of a list: a raw text of a definition, with its language where the list says it. */
export interface ListedText {
  readonly id: string
  readonly text: string
  readonly language?: 'jq' | 'jsonpath'
}

const SITE = { pointer: '' }

/** Inputs that programs of definitions are tried on. */
const INPUTS: readonly Json[] = [
  {}, null, [{ name: 'a', age: 30, language: 'English' }], { name: 'Ann', age: 17, number: 4, result: 'x', items: [1, 2], language: 'Spanish' },
  { numbers: [{ x: 2, y: 1 }], response: [{ a: 1 }], statusCode: 400, words: [], value: 3 },
]

/** Reads a list: lines of a text file, or `{jq: [{expr}], jsonpath: [{expr}]}`. */
export function listedTexts(file: string, content: string): ListedText[] {
  if (!file.endsWith('.json')) {
    return content.split('\n').map((text, index) => ({ id: `${file}:${index + 1}`, text })).filter(({ text }) => text.trim() !== '')
  }
  const parsed = JSON.parse(content) as Json
  if (!isJsonObject(parsed)) return []
  return (['jq', 'jsonpath'] as const).flatMap((language) => {
    const entries = parsed[language]
    return (Array.isArray(entries) ? (entries as readonly Json[]) : []).flatMap((entry, index) =>
      isJsonObject(entry) && typeof entry['expr'] === 'string' ? [{ id: `${file}#${language}[${index}]`, text: entry['expr'], language }] : [])
  })
}

/** Makes the rows of a list: jq texts agree with jq 1.8.2 itself, JSONPath texts compile. */
export function listRows(texts: readonly ListedText[], oracle: Oracle): Row[] {
  return texts.map((listed) => ({ id: listed.id, run: () => Promise.resolve().then(() => runText(listed, oracle)) }))
}

function runText({ text, language }: ListedText, oracle: Oracle): string | undefined {
  if (language === 'jsonpath' || (language === undefined && /^(?:[${\s]*)\$[.[]/.test(text))) {
    sonataflowExpressions('jsonpath').compileFilter(text, SITE)
    return undefined
  }
  if (/^\s*(?:\$\{|\{\{)?\s*fn:/.test(text)) return undefined
  return compareWithJq(text, oracle)
}

function compareWithJq(text: string, oracle: Oracle): string | undefined {
  const opened = unwrap(text, 'jq', true)
  // Text around expressions is an expression of neither.
  if (opened.kind === 'parts') return undefined
  const program = opened.expression
  const variables = [...new Set([...program.matchAll(/\$([A-Za-z_]\w*)/g)].map((match) => match[1] ?? ''))]
  const refused = oracle.run(program, 'null', variables)
  let compiled: CompiledExpression
  try {
    compiled = compile('jq', program)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    if (refused.kind !== 'refused') return `${text}\nis refused, but jq accepts it: ${error.message}`
    return typeof error.details['hint'] === 'string' ? undefined : `${text}\nis refused without a hint: ${error.message}`
  }
  if (refused.kind === 'refused' || variables.some((name) => name.startsWith('SECRET'))) return undefined
  for (const input of INPUTS) {
    const difference = compareOn(compiled, program, input, variables, oracle)
    if (difference !== undefined) return `${text}\non ${JSON.stringify(input)}: ${difference}`
  }
  return undefined
}

function compareOn(compiled: CompiledExpression, program: string, input: Json, variables: readonly string[], oracle: Oracle): string | undefined {
  const verdict = oracle.run(program, JSON.stringify(input), variables)
  if (verdict.kind === 'refused') return undefined
  const bindings = createBindings({ variables: Object.fromEntries(variables.map((name) => [name, null])) })
  const outputs: Json[] = []
  let failure: string | undefined
  try {
    void compiled.each(input, bindings, (output) => outputs.push(output))
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    failure = error.message
  }
  const expected = verdict.outputs.map((line) => JSON.parse(line) as Json)
  // `now` differs from one moment to the next.
  if (program.includes('now')) return outputs.length === expected.length ? undefined : 'another number of outputs'
  if (outputs.length !== expected.length || !outputs.every((output, index) => sameValue(output, expected[index] ?? null))) {
    return `gives ${JSON.stringify(outputs)}, jq ${JSON.stringify(expected)}`
  }
  return (failure === undefined) === (verdict.error === undefined) ? undefined : `fails with ${failure ?? 'nothing'}, jq with ${verdict.error ?? 'nothing'}`
}
