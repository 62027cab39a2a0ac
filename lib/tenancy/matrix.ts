import { isJsonObject } from '../common/index.ts'
import { TenancyError } from '../errors/index.ts'
import type { Call } from './call.ts'
import { parseCall } from './call-text.ts'
import { parseValue } from './documents.ts'
import { createEvaluator, type Decision, type EvaluatorOptions, type Outcome } from './evaluate.ts'

/** One row: a call and the decision it must have. */
interface MatrixRow {
  readonly id: string
  /** Rules of the requirement that the row is about. */
  readonly rule: string
  readonly call: Call
  readonly expect: Outcome
  /** Set when the requirement contradicts itself on this row; the expectation says what the documents do. */
  readonly isDisputed: boolean
  readonly note: string
}

/** A table of calls and the decisions they must have. */
export interface Matrix {
  /** Files with the documents, relative to the matrix. */
  readonly policies: readonly string[]
  readonly rows: readonly MatrixRow[]
}

/** A row with the decision the documents give. */
export interface MatrixResult {
  readonly row: MatrixRow
  readonly decision: Decision
  readonly agrees: boolean
}

const COLUMNS = ['id', 'rule', 'from', 'to', 'http', 'expect', 'note'] as const

/**
 * Parses a matrix: `policies`, `workloads`, and rows `[id, rule, from, to, http, expect, note]`, or objects with these names.
 *
 * An expectation may add the word `disputed`, as the note may.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` naming the row that cannot be read
 */
export function parseMatrix(text: string, file: string): Matrix {
  const value = parseValue(text, file)
  const rows = isJsonObject(value) ? value['rows'] : undefined
  if (!isJsonObject(value) || !Array.isArray(rows)) throw invalid(`${file}: a matrix with a list "rows" is expected`)
  const named = Object.entries(isJsonObject(value['workloads']) ? value['workloads'] : {})
  const workloads = Object.fromEntries(named.map(([name, labels]) => [name, typeof labels === 'string' ? labels : '']))
  const policies = Array.isArray(value['policies']) ? value['policies'].map(String) : []
  return { policies, rows: rows.map((row: unknown, index) => parseRow(row, `${file}: row ${String(index + 1)}`, workloads)) }
}

function parseRow(row: unknown, place: string, workloads: Readonly<Record<string, string>>): MatrixRow {
  const cell = (name: (typeof COLUMNS)[number]): string => {
    const value: unknown = Array.isArray(row) ? row[COLUMNS.indexOf(name)] : isJsonObject(row) ? row[name] : undefined
    if (value === undefined && (name === 'note' || name === 'rule')) return ''
    if (typeof value !== 'string' && typeof value !== 'number') throw invalid(`${place}: "${name}" is missing or not a text`)
    return String(value)
  }
  const id = cell('id')
  const expect = /^(allow|deny|undecided)\b/.exec(cell('expect'))?.[1]
  if (expect === undefined) throw invalid(`${place} (${id}): "expect" is allow, deny or undecided`)
  const call = readCall({ from: cell('from'), to: cell('to'), http: cell('http') }, workloads, `${place} (${id})`)
  const isDisputed = /\bdisputed\b/i.test(`${cell('expect')} ${cell('note')}`)
  return { id, rule: cell('rule'), call, expect: expect as Outcome, isDisputed, note: cell('note') }
}

function readCall(text: { from: string; to: string; http: string }, workloads: Readonly<Record<string, string>>, place: string): Call {
  try {
    return parseCall(text, { workloads })
  } catch (error) {
    throw TenancyError.is(error) ? invalid(`${place}: ${error.message}`) : error
  }
}

/**
 * Decides every row of a matrix.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when a document is invalid
 */
export function runMatrix(matrix: Matrix, documents: readonly unknown[], options: EvaluatorOptions = {}): MatrixResult[] {
  const evaluator = createEvaluator(documents, options)
  return matrix.rows.map((row) => {
    const decision = evaluator.evaluate(row.call)
    return { row, decision, agrees: decision.decision === row.expect }
  })
}

function invalid(message: string): TenancyError {
  return new TenancyError({ code: 'TENANCY_INVALID', message })
}
