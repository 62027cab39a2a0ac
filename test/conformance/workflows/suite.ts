import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { UsageError, type CaseResult, type SuiteOptions, type SuiteResult } from '../suite-result.ts'
import { missingNeeds, MISSING } from './capabilities.ts'
import { CaseFault } from './case-fault.ts'
import { loadCases, type LoadedCase } from './case-file.ts'
import { loadContested } from './contested.ts'
import { runServed } from './kinds/served.ts'
import { runSimulation } from './kinds/simulate.ts'
import type { Faults } from './kinds/outcome.ts'
import { CHANGED_BY_STOPS, RESUME_SETTINGS, Resumption } from './resumption.ts'

/** Longest real time of one case: then it hangs. */
const CASE_LIMIT = 20_000
/** The same where every step goes through an engine in another process. */
const ENGINE_CASE_LIMIT = 300_000

/** Options of the suite beyond the common ones. */
export interface WorkflowsOptions extends SuiteOptions {
  /** Cases that run at once. @default the cores of the machine */
  readonly parallel?: number
  /** Takes each n-th case only. @default 1 */
  readonly every?: number
}

/**
 * Runs the workflow cases of a corpus against the product, from outside: over HTTP, or through its public API.
 *
 * `caseId` is `<group>/<id>`, or the id alone when only one group has it.
 */
export async function runWorkflowsSuite(options: WorkflowsOptions): Promise<SuiteResult> {
  const all = await loadCases(options.corpus)
  const { caseId, settings, resume = false, every = 1 } = options
  const chosen = (caseId === undefined ? all.filter((_, index) => index % every === 0) : chooseCases(all, caseId)).map((loaded): LoadedCase => ({
    ...loaded,
    ...(settings === undefined && !resume ? {} : { settings: { ...(resume ? RESUME_SETTINGS : {}), ...settings } }),
    ...(resume ? { resumption: new Resumption() } : {}),
  }))
  const contested = await loadContested()
  const results = await runAll(chosen, options.parallel ?? availableParallelism())
  const cases = chosen.map((loaded): CaseResult => {
    const result = results.get(loaded) ?? { id: loaded.key, feature: loaded.file.group, outcome: 'failed', reason: 'it was not run' }
    const reason = contested[loaded.key] ?? (resume ? CHANGED_BY_STOPS[loaded.key] : undefined)
    return result.outcome === 'failed' && reason !== undefined ? { ...result, outcome: 'contested', reason } : result
  })
  return { suite: 'workflows', cases, ...(resume ? { notes: resumeNotes(chosen, cases) } : {}) }
}

function resumeNotes(chosen: readonly LoadedCase[], cases: readonly CaseResult[]): readonly string[] {
  const ran = chosen.filter((_loaded, index) => cases[index]?.outcome === 'passed')
  const stops = ran.map(({ resumption }) => resumption?.stops ?? 0)
  const stopped = stops.filter((count) => count > 0).length
  return [
    `resumed from the store: ${String(stopped)} cases, at ${String(stops.reduce((sum, count) => sum + count, 0))} waits`,
    `nothing to resume: ${String(ran.length - stopped)} cases, of which no instance is left at any rest`,
  ]
}

/**
 * Runs cases, several at once.
 *
 * An error that nobody catches would end the process of a user: it fails its case. Those that ran at that moment run again alone.
 */
async function runAll(cases: readonly LoadedCase[], parallel: number): Promise<Map<LoadedCase, CaseResult>> {
  const results = new Map<LoadedCase, CaseResult>()
  const running = new Set<LoadedCase>()
  const disturbed = new Set<LoadedCase>()
  let uncaught: unknown
  const notice = (error: unknown): void => {
    uncaught = error
    for (const loaded of running) disturbed.add(loaded)
  }
  const work = async (queue: LoadedCase[]): Promise<void> => {
    for (let loaded = queue.shift(); loaded !== undefined; loaded = queue.shift()) {
      running.add(loaded)
      results.set(loaded, await runCase(loaded))
      running.delete(loaded)
    }
  }
  process.on('uncaughtException', notice)
  try {
    const queue = [...cases]
    await Promise.all(Array.from({ length: parallel }, () => work(queue)))
    for (const loaded of [...disturbed]) {
      disturbed.clear()
      await work([loaded])
      const result = results.get(loaded)
      if (disturbed.size > 0 && result !== undefined) results.set(loaded, { ...result, outcome: 'failed', reason: `an error that nobody caught: ${reasonOf(uncaught)}` })
    }
  } finally {
    process.off('uncaughtException', notice)
  }
  return results
}

function chooseCases(all: readonly LoadedCase[], id: string): readonly LoadedCase[] {
  const chosen = all.filter(({ key, file }) => key === id || file.id === id)
  if (chosen.length > 0) return chosen
  throw new UsageError(`There is no case "${id}"; near are ${nearestKeys(id, all.map(({ key }) => key)).join(', ')}`)
}

/** The keys that share most pairs of letters with a name. */
function nearestKeys(id: string, keys: readonly string[]): readonly string[] {
  const pairs = (text: string): Set<string> => new Set([...text.toLowerCase()].map((letter, index, letters) => letter + (letters[index + 1] ?? '')))
  const wanted = pairs(id.split('/').at(-1) ?? id)
  const likeness = (key: string): number => {
    const own = pairs(key.split('/').at(-1) ?? key)
    return [...wanted].filter((pair) => own.has(pair)).length / (wanted.size + own.size)
  }
  return [...keys].sort((left, right) => likeness(right) - likeness(left)).slice(0, 5)
}

async function runCase(loaded: LoadedCase): Promise<CaseResult> {
  const { key, file, fault } = loaded
  const base = { id: key, feature: `${file.group} ${file.kind}` }
  if (fault !== undefined) return { ...base, outcome: 'failed', reason: fault }
  try {
    const missing = missingNeeds(file.needs)
    if (missing.length > 0) return { ...base, outcome: 'skipped', missing, reason: missing.map((need) => `${need} (${MISSING[need] ?? ''})`).join(', ') }
    if (file.steps.length === 0) {
      const reason = file.exercisedBy === undefined ? 'nothing says what happens' : `exercised by ${file.exercisedBy}`
      return { ...base, outcome: 'skipped', missing: [file.exercisedBy === undefined ? '(no oracle)' : '(exercised by another case)'], reason }
    }
    const faults = await withinLimit(execute(loaded), loaded.settings?.['sonatina.store'] === 'restate' ? ENGINE_CASE_LIMIT : CASE_LIMIT)
    return faults.length === 0 ? { ...base, outcome: 'passed' } : { ...base, outcome: 'failed', reason: faults.join('\n') }
  } catch (error) {
    return { ...base, outcome: 'failed', reason: reasonOf(error) }
  }
}

async function execute(loaded: LoadedCase): Promise<Faults> {
  const { file } = loaded
  const steps = file.steps.filter((step) => missingNeeds(step.needs ?? []).length === 0)
  switch (file.kind) {
    case 'http':
    case 'run':
    case 'load':
      return runServed(loaded, steps)
    case 'simulate':
      return runSimulation(loaded, steps)
    case 'data':
      return []
  }
}

async function withinLimit(faults: Promise<Faults>, milliseconds: number): Promise<Faults> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<Faults>((resolve) => {
    timer = setTimeout(() => { resolve([`it did not end within ${milliseconds} ms of real time`]) }, milliseconds)
  })
  try {
    return await Promise.race([faults, limit])
  } finally {
    clearTimeout(timer)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof CaseFault) return error.message
  const place = (error.stack ?? '').split('\n').slice(1, 4).map((line) => line.trim().replaceAll(join(process.cwd(), '/'), '')).join(' ')
  return `${error.name}: ${error.message} (${place})`
}
