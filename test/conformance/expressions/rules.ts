import { isJsonObject, jsonEquals, type Json, type JsonObject } from '../../../lib/common/index.ts'
import { createBindings, type ExpressionLanguageName } from '../../../lib/expressions/index.ts'
import { isReference, resolveReference } from '../../../lib/expressions/references.ts'
import { unwrap } from '../../../lib/expressions/wrapper.ts'
import { sonataflowExpressions, type Row } from './tables.ts'

const SITE = { pointer: '' }
const LANGUAGES = ['jq', 'jsonpath', 'jsonata'] as const

/** Tells whether a file holds rules on wrappers, references and arguments. */
export function isRules(content: unknown): content is JsonObject {
  return isJsonObject(content) && ['wrappers', 'arguments', 'secretsAtBuild'].some((section) => section in content)
}

/** Reads the rows on wrappers, `fn:` references, arguments and secrets; rules on other things are not ours. */
export function ruleRows(file: string, content: JsonObject): Row[] {
  return [...wrapperRows(file, section(content, 'wrappers')), ...argumentRows(file, section(content, 'arguments')), ...secretRows(file, section(content, 'secretsAtBuild'))]
}

function section(content: JsonObject, name: string): JsonObject {
  const value = content[name]
  return isJsonObject(value) ? value : {}
}

function pairs(value: Json | undefined): [string, string][] {
  return Array.isArray(value) ? (value as readonly (readonly Json[])[]).map(([text, expected]) => [String(text), String(expected)]) : []
}

function inner(text: string): string {
  const opened = unwrap(text, 'jq', true)
  return opened.kind === 'parts' ? text : opened.expression
}

function wrapperRows(file: string, wrappers: JsonObject): Row[] {
  const replacements = pairs(wrappers['replace'])
  // The functions that the rows refer to are those that the rows resolve.
  const functions = new Map(replacements.filter(([text]) => isReference(inner(text))).map(([text, operation]) => [inner(text).replace(/^fn:\s*/, ''), operation]))
  const resolve = (text: string): string => resolveReference(text, functions, SITE, inner).text
  return [
    ...pairs(wrappers['trim']).map(([text, expected], index): Row => row(`${file}#trim[${index}]`, text, expected, inner)),
    ...replacements.map(([text, expected], index): Row => row(`${file}#replace[${index}]`, text, expected, resolve)),
    ...pairs(wrappers['error']).map(([text], index): Row => ({
      id: `${file}#error[${index}]`,
      run: () => Promise.resolve().then(() => {
        try {
          return `${text}\nresolves to ${resolve(text)}, expected a failure`
        } catch {
          return undefined
        }
      }),
    })),
  ]
}

function row(id: string, text: string, expected: string, compute: (text: string) => string): Row {
  return {
    id,
    run: () => Promise.resolve().then(() => {
      const found = compute(text)
      return found === expected ? undefined : `${text}\ngives ${found}, expected ${expected}`
    }),
  }
}

function argumentRows(file: string, rules: JsonObject): Row[] {
  const input = rules['input'] ?? null
  return LANGUAGES.flatMap((language) => {
    const rows = rules[language]
    return (Array.isArray(rows) ? (rows as readonly JsonObject[]) : []).map((entry, index): Row => ({
      id: `${file}#arguments-${language}[${index}]`,
      run: () => runArguments(language, entry, input),
    }))
  })
}

async function runArguments(language: ExpressionLanguageName, entry: JsonObject, input: Json): Promise<string | undefined> {
  const output = await sonataflowExpressions(language).compileTemplate(entry['arguments'] ?? null, SITE).evaluate(input, createBindings({}))
  return jsonEquals(output, entry['expect'])
    ? undefined
    : `${JSON.stringify(entry['arguments'])}\ngives ${JSON.stringify(output)}, expected ${JSON.stringify(entry['expect'])}`
}

function secretRows(file: string, rules: JsonObject): Row[] {
  const config = section(rules, 'config')
  const bindings = createBindings({ secrets: { read: (key) => typeof config[key] === 'string' ? config[key] : undefined } })
  return pairs(rules['cases']).map(([text, expected], index): Row => ({
    id: `${file}#secrets[${index}]`,
    run: async () => {
      const found = await sonataflowExpressions('jq').compileTemplate(text, SITE).evaluate({}, bindings)
      return found === expected ? undefined : `${text}\ngives ${JSON.stringify(found)}, expected ${expected}`
    },
  }))
}
