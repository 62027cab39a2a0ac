import { jsonEquals, type Json, type JsonObject } from '../../../lib/common/index.ts'
import { createRandomIdSource, createSystemClock, isJsonObject } from '../../../lib/common/index.ts'
import {
  createBindings, createExpressions, type Bindings, type ExpressionLanguageName, type Expressions,
} from '../../../lib/expressions/index.ts'
import type { CaseResult } from '../suite-result.ts'

/** One row of a table: gives what is wrong, or nothing. */
export interface Row {
  readonly id: string
  run(): Promise<string | undefined>
}

const SITE = { pointer: '' }

/** Makes the compiler that tables of SonataFlow are run with. */
export function sonataflowExpressions(language: ExpressionLanguageName, functions?: ReadonlyMap<string, string>): Expressions {
  return createExpressions({
    language, profile: 'sonataflow', clock: createSystemClock(), ids: createRandomIdSource(), ...(functions && { functions }),
  })
}

/** Runs a row and reports it. */
export async function runRow(row: Row, feature: string): Promise<CaseResult> {
  const reason = await row.run().catch((error: unknown) => error instanceof Error ? `${error.name}: ${error.message}` : String(error))
  return reason === undefined ? { id: row.id, feature, outcome: 'passed' } : { id: row.id, feature, outcome: 'failed', reason }
}

/** Tells whether a file is a table of expressions: a document and rows that are evaluated on it. */
export function isTable(content: unknown): content is JsonObject {
  return isJsonObject(content) && 'document' in content && Array.isArray(content['evaluate'])
}

/** Reads the rows of a table of expressions: evaluation, validity, errors, assignment. */
export function tableRows(file: string, content: JsonObject): Row[] {
  const language = languageOf(file, content)
  const document = content['document'] ?? null
  const bindings = bindingsOf(content['context'])
  const sections = Object.entries(content).filter((entry): entry is [string, readonly Json[]] => Array.isArray(entry[1]))
  return sections.flatMap(([section, rows]) => rows.filter(isJsonObject).map((row, index): Row => ({
    id: `${file}#${section.split(' ')[0] ?? ''}[${index}]`,
    run: async () => runSection(section, row, row['document'] ?? document, language, bindings),
  })))
}

function languageOf(file: string, content: JsonObject): ExpressionLanguageName {
  const named = content['language'] ?? /jsonata|jsonpath|jq/.exec(file)?.[0]
  return (typeof named === 'string' ? named : 'jq') as ExpressionLanguageName
}

function bindingsOf(context: Json | undefined): Bindings {
  if (!isJsonObject(context)) return createBindings({})
  const { constants, secrets, ...workflow } = context
  return createBindings({
    workflow: Object.fromEntries(Object.entries(workflow).map(([key, value]) => [key, () => value])),
    constants: isJsonObject(constants) ? constants : {},
    secrets: { read: (key) => isJsonObject(secrets) && typeof secrets[key] === 'string' ? secrets[key] : undefined },
  })
}

function runSection(section: string, row: JsonObject, document: Json, language: ExpressionLanguageName, bindings: Bindings): string | undefined | Promise<string | undefined> {
  const expressions = sonataflowExpressions(language)
  const text = String(row['expr'])
  if ('assign' in row) return runAssign(expressions, text, row, document)
  if ('valid' in row) return runValidity(expressions, text, row['valid'] === true)
  if ('error' in row) return runError(expressions, text, document, bindings)
  if ('expect' in row) return runEvaluation(expressions, text, row, document, bindings)
  return `unknown kind of row in ${section}`
}

async function runEvaluation(expressions: Expressions, text: string, row: JsonObject, document: Json, bindings: Bindings): Promise<string | undefined> {
  const expected = row['expect'] ?? null
  const output = await evaluateAs(String(row['as']), expressions, text, document, bindings)
  return sameOutput(output, expected) ? undefined : `${text}\ngives ${JSON.stringify(output)}, expected ${JSON.stringify(expected)}`
}

function evaluateAs(kind: string, expressions: Expressions, text: string, document: Json, bindings: Bindings): Json | Promise<Json> {
  switch (kind) {
    case 'string': return expressions.compileText(text, SITE).evaluate(document, bindings)
    case 'boolean': return expressions.compileCondition(text, SITE).evaluate(document, bindings)
    case 'collection': return expressions.compileList(text, SITE).evaluate(document, bindings)
    default: return expressions.compileFilter(text, SITE).evaluate(document, bindings)
  }
}

// Texts that are JSON may be printed with other blanks.
function sameOutput(output: Json, expected: Json): boolean {
  if (jsonEquals(output, expected)) return true
  if (typeof output !== 'string' || typeof expected !== 'string' || !/^[[{]/.test(expected)) return false
  try {
    return jsonEquals(JSON.parse(output), JSON.parse(expected))
  } catch {
    return false
  }
}

function runValidity(expressions: Expressions, text: string, valid: boolean): string | undefined {
  try {
    expressions.compileFilter(text, SITE)
    return valid ? undefined : `${text}\nis accepted, but is not valid`
  } catch (error) {
    return valid ? `${text}\nis refused: ${String(error)}` : undefined
  }
}

async function runError(expressions: Expressions, text: string, document: Json, bindings: Bindings): Promise<string | undefined> {
  try {
    const output = await expressions.compileFilter(text, SITE).evaluate(document, bindings)
    return `${text}\ngives ${JSON.stringify(output)}, expected a failure`
  } catch {
    return undefined
  }
}

function runAssign(expressions: Expressions, text: string, row: JsonObject, document: Json): string | undefined {
  const result = expressions.compileTarget(text, SITE).merge(document, row['assign'] ?? null)
  const expected = isJsonObject(row['expect']) ? row['expect'] : {}
  for (const [path, value] of Object.entries(expected)) {
    const found = path.split('.').reduce<Json | undefined>((at, key) => isJsonObject(at) ? at[key] : undefined, result)
    if (!jsonEquals(found, value)) return `${text}\nputs ${JSON.stringify(found)} at ${path}, expected ${JSON.stringify(value)}`
  }
  return undefined
}
