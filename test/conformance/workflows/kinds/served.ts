import type { LoadedCase, Step } from '../case-file.ts'
import { World } from '../world.ts'
import { awaitEventStep, emitStep, logStep, requestStep, verifyMockStep, waitStep } from './http-steps.ts'
import { loadStep } from './load-steps.ts'
import {
  addDefinitionStep, restartStep, verifyCallOrderStep, verifyCallStep, verifyLifecycleEventsStep, verifyLogStep,
} from './other-steps.ts'
import { verifySpansStep } from './span-steps.ts'
import { inStep, type Faults } from './outcome.ts'
import { runOtherStep, runStep, waitFinishStep } from './run-steps.ts'

type RunStep = (world: World, step: Step) => Promise<Faults>

const METHODS = ['post', 'get', 'put', 'patch', 'delete']

const STEPS: Readonly<Record<string, RunStep>> = {
  ...Object.fromEntries(METHODS.map((method): [string, RunStep] => [method, (world, step) => requestStep(world, step, method)])),
  emit: emitStep,
  wait: waitStep,
  awaitEvent: awaitEventStep,
  verifyMock: verifyMockStep,
  verifyCall: verifyCallStep,
  verifyCallOrder: verifyCallOrderStep,
  verifyLog: verifyLogStep,
  verifySpans: verifySpansStep,
  verifyLifecycleEvents: verifyLifecycleEventsStep,
  log: logStep,
  addDefinition: addDefinitionStep,
  restart: restartStep,
  run: runStep,
  runOther: runOtherStep,
  waitFinish: waitFinishStep,
  load: loadStep,
}

/** Runs a case of kind `http`, `run` or `load`: they share their steps. */
export async function runServed(loaded: LoadedCase, steps: readonly Step[]): Promise<Faults> {
  const world = await World.open(loaded)
  try {
    if (loaded.file.kind !== 'load') {
      const { failures } = world.runtime.catalogue
      if (failures.length > 0) return failures.map(({ uri, error }) => `${uri} was refused: ${error.message}`)
    }
    for (const [index, step] of steps.entries()) {
      const keys = Object.keys(STEPS).filter((name) => name in step)
      const [key] = keys
      const run = key === undefined || keys.length > 1 ? undefined : STEPS[key]
      if (key === undefined || run === undefined) return [`step ${index + 1} is of a kind that this runner does not know: ${Object.keys(step).join(', ')}`]
      const faults = await run(world, step)
      if (faults.length > 0) return inStep(index, `${key}${step.name === undefined ? '' : ` "${step.name}"`}`, faults)
    }
    return []
  } finally {
    await world.close()
  }
}
