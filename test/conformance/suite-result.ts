/** What a suite gets from the command line. */
export interface SuiteOptions {
  /** Folder of the corpus; its README says what is in it. */
  readonly corpus: string
  /** Runs this case only. */
  readonly caseId?: string
  /** Settings for the product, where a suite starts one; they win over those of its cases. */
  readonly settings?: Readonly<Record<string, string>>
  /** Stops the product at each wait and goes on from its store, where a suite can. */
  readonly resume?: boolean
}

/** Ends the command with a message and no report: it was asked for something that is not there. */
export class UsageError extends Error {}

/** What became of one case. */
export interface CaseResult {
  /** Identity that `--case` takes; unique in its suite. */
  readonly id: string
  /** Row of the table that the case counts in. */
  readonly feature: string
  /** `contested`: it fails, and a decision of the project says why that is right. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'contested'
  /** Why it failed, was skipped or is contested. */
  readonly reason?: string
  /** What the case needs and the runner or the product does not have; of skipped cases. */
  readonly missing?: readonly string[]
}

/** Outcome of a whole suite. */
export interface SuiteResult {
  readonly suite: string
  /** Folder of the corpus when it is not the default one: the line that repeats a case names it. */
  readonly corpus?: string
  readonly cases: readonly CaseResult[]
  /** Lines about the run as a whole. */
  readonly notes?: readonly string[]
}

/** Numbers of the last line; contested cases count as skipped, with their reason. */
export interface SuiteCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** Counts the cases of a suite by outcome. */
export function countCases(result: SuiteResult): SuiteCounts {
  const having = (...outcomes: readonly CaseResult['outcome'][]): number =>
    result.cases.filter(({ outcome }) => outcomes.includes(outcome)).length
  return { passed: having('passed'), failed: having('failed'), skipped: having('skipped', 'contested') }
}

/** Counts skipped cases by what they lack; a case that lacks two things counts for each. */
export function countMissing(result: SuiteResult): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { outcome, missing } of result.cases) {
    if (outcome === 'skipped') for (const need of missing ?? ['(none given)']) counts.set(need, (counts.get(need) ?? 0) + 1)
  }
  return Object.fromEntries([...counts].sort(([left], [right]) => left.localeCompare(right)))
}

/** Writes a result for people: table by feature, skips, contested cases, failures; the counts are the last line. */
export function renderSuite(result: SuiteResult): string {
  const lines = [...featureTable(result), ...skipLines(result)]
  const contested = result.cases.filter(({ outcome }) => outcome === 'contested')
  if (contested.length > 0) lines.push('', 'contested, with the reason:', ...contested.map(({ id, reason }) => `  ${id}: ${reason ?? ''}`))
  const failures = result.cases.filter(({ outcome }) => outcome === 'failed')
  if (failures.length > 0) lines.push('', 'failed:', ...failures.flatMap((failure) => failureLines(result, failure)))
  if (result.notes !== undefined) lines.push('', ...result.notes)
  const { passed, failed, skipped } = countCases(result)
  lines.push('', `${result.suite}: ${passed} passed, ${failed} failed, ${skipped} skipped`)
  return `${lines.join('\n')}\n`
}

/** Says how to run a failed case again. */
export function repeatCommand({ suite, corpus }: SuiteResult, id: string): string {
  return `npm run conformance -- --suite ${suite}${corpus === undefined ? '' : ` --corpus ${corpus}`} --case ${id}`
}

function featureTable(result: SuiteResult): string[] {
  const rows = new Map<string, CaseResult[]>()
  for (const item of result.cases) rows.set(item.feature, [...(rows.get(item.feature) ?? []), item])
  const width = Math.max(7, ...[...rows.keys()].map((feature) => feature.length))
  const lines = [`${'feature'.padEnd(width)}  passed  failed  skipped`]
  for (const [feature, cases] of [...rows].sort(([left], [right]) => left.localeCompare(right))) {
    const { passed, failed, skipped } = countCases({ suite: result.suite, cases })
    lines.push(`${feature.padEnd(width)}  ${cell(passed)}  ${cell(failed)}  ${cell(skipped, 7)}`)
  }
  return lines
}

function cell(count: number, width = 6): string {
  return (count === 0 ? '·' : String(count)).padStart(width)
}

function skipLines(result: SuiteResult): string[] {
  const counts = Object.entries(countMissing(result))
  return counts.length === 0 ? [] : ['', 'skipped, by what is missing:', ...counts.map(([need, count]) => `  ${need}: ${count}`)]
}

function failureLines(result: SuiteResult, { id, reason }: CaseResult): string[] {
  const [first = '', ...more] = (reason ?? 'no reason given').split('\n')
  return [`  ${id}: ${first}`, ...more.map((line) => `    ${line}`), `    repeat: ${repeatCommand(result, id)}`]
}
