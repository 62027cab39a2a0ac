import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { createRandomIdSource, createSystemClock } from '../../lib/common/index.ts'
import type { createExpressions as CreateExpressions, Expressions } from '../../lib/expressions/index.ts'
import { spread } from './measure.ts'

const PROGRAMS = ['.amount * .exchangeRate', '.executionStatus == "ERROR"', '{result: ((.result // "") + "A")}', 'map(select(.v > 50 and .ok) | .id)', '.a.b.c']
const COUNT = 2000

interface Module { readonly createExpressions: typeof CreateExpressions }

/** What expressions cost beside their evaluation (expressions.md "Speed"). */
export interface W7Costs {
  /** Small programs compiled in a second of processor time: at least 20,000. */
  readonly compilesPerSecond: number
  /** MiB that 2,000 compiled programs take: at most 25; needs `--expose-gc` to be exact. */
  readonly heap: number
  /** How many times longer each program of W7 takes with its limits than without: at most 1.6. */
  readonly guard: readonly number[]
  /** Milliseconds that the bundled module takes to import in a fresh process, median of 7: at most 30. */
  readonly importTime: number
}

/** Measures the costs of compiling, keeping and importing: of the module as it is published, one file without the help of tsx. */
export async function measureW7Costs(): Promise<W7Costs> {
  // Below the project, so that the packages that stay outside the bundle are found.
  const directory = await mkdtemp(join(resolve('node_modules'), '.w7-'))
  const outfile = join(directory, 'expressions.mjs')
  try {
    await build({ entryPoints: ['lib/expressions/index.ts'], bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile, logLevel: 'silent' })
    const address = pathToFileURL(outfile).href
    const { createExpressions } = await import(address) as Module
    const compile = () => compileAll(createExpressions)
    return { compilesPerSecond: measureRate(compile), heap: measureHeap(compile), guard: measureGuard(), importTime: measureImport(address) }
  } finally {
    await rm(directory, { recursive: true })
  }
}

function measureRate(compile: () => unknown): number {
  const rates = Array.from({ length: 12 }, () => {
    const start = process.cpuUsage()
    compile()
    const { user, system } = process.cpuUsage(start)
    return COUNT / ((user + system) / 1_000_000)
  })
  // The first round runs before the engine has optimised anything.
  return spread(rates.slice(1)).median
}

function measureHeap(compile: () => readonly unknown[]): number {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const kept = compile()
  globalThis.gc?.()
  return kept.length === COUNT ? (process.memoryUsage().heapUsed - before) / 1024 ** 2 : NaN
}

function measureGuard(): readonly number[] {
  const rates = (side: string): readonly number[] => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', fileURLToPath(new URL('w7-guard.ts', import.meta.url)), side], { encoding: 'utf8' })
    if (stdout === '') throw new Error(stderr)
    return JSON.parse(stdout) as readonly number[]
  }
  const rounds = Array.from({ length: 3 }, () => ({ guarded: rates('guarded'), unguarded: rates('unguarded') }))
  const programs = rounds[0]?.guarded ?? []
  return programs.map((_, index) => spread(rounds.map(({ guarded, unguarded }) => (unguarded[index] ?? NaN) / (guarded[index] ?? NaN))).median)
}

function compileAll(create: Module['createExpressions']): readonly ReturnType<Expressions['compileFilter']>[] {
  const expressions = create({ language: 'jq', profile: 'spec', clock: createSystemClock(), ids: createRandomIdSource() })
  // A comment makes each text another one: equal texts are compiled once.
  return Array.from({ length: COUNT }, (_, nth) => expressions.compileFilter(`${PROGRAMS[nth % PROGRAMS.length] ?? '.'} # ${String(nth)}`, { pointer: '' }))
}

function measureImport(address: string): number {
  const script = `const start = performance.now(); import(${JSON.stringify(address)}).then(() => console.log(performance.now() - start))`
  return spread(Array.from({ length: 7 }, () => Number(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' }).stdout))).median
}
