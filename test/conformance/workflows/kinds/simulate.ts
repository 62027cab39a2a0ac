import { readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { Json } from '../../../../lib/common/index.ts'
import { assertKnown, type Fields, type LoadedCase, type Step } from '../case-file.ts'
import { checkSettled } from '../simulate/expectations.ts'
import { Simulation } from '../simulate/simulation.ts'
import { inStep, type Faults } from './outcome.ts'

const NOTES = ['name', 'oracle', 'note', 'needs']

const STEPS: Readonly<Record<string, (simulation: Simulation, step: Step) => Promise<Faults>>> = {
  start: async (simulation, step) => {
    await simulation.begin(step['start'] as Json)
    return []
  },
  event: async (simulation, step) => {
    await simulation.deliver(step['event'] as Fields)
    return []
  },
  advance: async (simulation, step) => {
    await simulation.advance(String(step['advance']))
    return []
  },
  // Loading has happened when the product started.
  deploy: () => Promise.resolve([]),
  settle: async (simulation, step) => {
    await simulation.drive()
    return checkSettled(simulation, step.expect ?? {})
  },
}

/** Runs a case of kind `simulate`, with its twin where both notations say the same. */
export async function runSimulation(loaded: LoadedCase, steps: readonly Step[]): Promise<Faults> {
  const faults = await runOnce(loaded, steps)
  const twin = await equalTwin(loaded)
  if (faults.length > 0 || twin === undefined) return faults
  return (await runOnce(loaded, steps, twin)).map((fault) => `with the twin ${twin}: ${fault}`)
}

async function runOnce(loaded: LoadedCase, steps: readonly Step[], twin?: string): Promise<Faults> {
  const simulation = await Simulation.open(loaded, twin)
  try {
    for (const [index, step] of steps.entries()) {
      const key = Object.keys(STEPS).find((name) => name in step)
      const run = key === undefined ? undefined : STEPS[key]
      if (key === undefined || run === undefined) return [`step ${index + 1} is of a kind that this runner does not know: ${Object.keys(step).join(', ')}`]
      assertKnown(step, [key, 'expect', ...NOTES], `step ${index + 1}`)
      const faults = await run(simulation, step)
      if (faults.length > 0) return inStep(index, key, faults)
    }
    return []
  } finally {
    await simulation.close()
  }
}

/** The other notation of the definition, when `definitions.json` says that both are equal. */
async function equalTwin({ file, folder }: LoadedCase): Promise<string | undefined> {
  const { twin } = file
  if (twin === undefined) return undefined
  const text = await readFile(join(folder, 'definitions.json'), 'utf8').catch(() => '[]')
  const entries = JSON.parse(text) as readonly { readonly name: string; readonly equal?: boolean }[]
  const name = basename(twin, extname(twin))
  return entries.some((entry) => entry.name === name && entry.equal === true) ? twin : undefined
}
