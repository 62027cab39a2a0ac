import { assertKnown, type Fields, type Step } from '../case-file.ts'
import type { Json } from '../../../../lib/common/index.ts'
import type { InstanceStatus } from '../../../../lib/hosts/index.ts'
import { valueAt } from '../body-path.ts'
import { parseDuration } from '../durations.ts'
import type { WatchedInstance } from '../instance-watch.ts'
import { differences, shorten } from '../match.ts'
import type { World } from '../world.ts'
import type { Faults } from './outcome.ts'
import { CaseFault } from '../case-fault.ts'

/** Longest virtual time that an instance gets to finish when the step does not say. */
const PATIENCE = 60_000

const STATUS_WORDS: Readonly<Record<InstanceStatus, string>> = {
  active: 'ACTIVE', waiting: 'ACTIVE', completed: 'COMPLETED', aborted: 'ABORTED', error: 'ERROR',
}

const ENDED: readonly InstanceStatus[] = ['completed', 'aborted', 'error']

/** `run`: starts an instance in process. */
export async function runStep(world: World, step: Step): Promise<Faults> {
  const { input, async, ...rest } = step['run'] as { readonly input: Json; readonly async?: boolean }
  assertKnown(rest, [], 'run')
  const printed = world.log.printed.length
  const started = world.time.clock.now()
  let record: WatchedInstance
  try {
    record = await world.runtime.host.start({ workflowId: workflowId(world), input: input ?? {}, ...(async === true ? { respondAsync: true } : {}) })
  } catch (error) {
    return checkThrown(error, step.expect ?? {})
  }
  const expected = step.expect ?? {}
  // Only what must have ended is given time: other steps of the case may still act on it.
  const mustEnd = ['workflowdata', 'workflowdataEquals', 'state', 'within', 'logs'].some((key) => key in expected) && async !== true
  const limit = expected['within'] === undefined ? PATIENCE : parseDuration(String(expected['within']))
  if (mustEnd) record = await untilEnded(world, record, limit)
  return checkRecord(world, expected, { record, printed, elapsed: world.time.clock.now() - started })
}

/** `runOther`: starts an instance of another definition. */
export async function runOtherStep(world: World, step: Step): Promise<Faults> {
  const { definition, input, ...rest } = step['runOther'] as { readonly definition: string | Fields; readonly input: Json }
  assertKnown(rest, [], 'runOther')
  const given = await world.definitionInput(definition, world.file.definitions.length)
  const id = await world.definitionId(definition)
  if (world.runtime.catalogue.find(id) === undefined) {
    const failures = await world.deploy(given)
    if (failures.length > 0) return failures.map(({ error }) => error.message)
  }
  await world.runtime.host.start({ workflowId: id, input: world.variables.resolve(input) })
  await world.settle()
  return []
}

/** `waitFinish`: an instance that has to end. */
export async function waitFinishStep(world: World, step: Step): Promise<Faults> {
  const { instance, atMost, ...rest } = step['waitFinish'] as { readonly instance: string; readonly atMost?: string }
  assertKnown(rest, [], 'waitFinish')
  const id = world.variables.resolve(instance)
  const record = await world.watch.find(world.runtime.host, id)
  if (record === undefined) return [`there is no instance ${id}`]
  const started = world.time.clock.now()
  const ended = await untilEnded(world, record, atMost === undefined ? PATIENCE : parseDuration(atMost))
  if (!ENDED.includes(ended.status)) return [`the instance is ${ended.status}, expected it to end`]
  return checkRecord(world, step.expect ?? {}, { record: ended, printed: 0, elapsed: world.time.clock.now() - started })
}

async function untilEnded(world: World, record: WatchedInstance, limit: number): Promise<WatchedInstance> {
  if (ENDED.includes(record.status)) return record
  const find = (): Promise<WatchedInstance | undefined> => world.watch.find(world.runtime.host, record.id)
  const ended = await world.poll(async () => {
    const found = await find()
    return found !== undefined && ENDED.includes(found.status) ? found : undefined
  }, limit)
  return ended ?? await find() ?? record
}

function workflowId(world: World): string {
  const { workflow } = world.file
  if (workflow === undefined) throw new CaseFault('the case names no workflow to run')
  return workflow
}

function checkThrown(error: unknown, expected: Fields): Faults {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  // Names of Java exceptions stand for "refused".
  return expected['error'] === undefined ? [`the start failed: ${text}`] : []
}

/** How a run went. */
interface Run {
  readonly record: WatchedInstance
  /** Lines that had been printed before it. */
  readonly printed: number
  /** Virtual milliseconds that it took. */
  readonly elapsed: number
}

type Check = (expected: never, world: World, run: Run) => Faults

const CHECKS: Readonly<Record<string, Check>> = {
  workflowdata: (expected: Fields, { variables }, { record }) => Object.entries(expected).flatMap(([path, value]) =>
    differences(valueAt(record.data, path), value, variables).map((fault) => `workflowdata.${path} ${fault}`)),
  workflowdataEquals: (expected: unknown, { variables }, { record }) =>
    differences(record.data, expected, variables).map((fault) => `workflowdata ${fault}`),
  state: (expected: string, _world, { record }) =>
    (STATUS_WORDS[record.status] === expected ? [] : [`state is ${STATUS_WORDS[record.status]}, expected ${expected}`]),
  within: (expected: string, _world, { elapsed }) => (elapsed <= parseDuration(expected) ? [] : [`it took ${elapsed} ms, expected ${expected} at most`]),
  logs: (expected: readonly string[], { log, variables }, { printed }) =>
    differences(log.printed.slice(printed), expected, variables).map((fault) => `printed lines ${fault}`),
  error: (expected: string, _world, { record }) => (record.status === 'error' ? [] : [`the instance is ${record.status}, expected the error ${expected}`]),
  capture: (expected: Fields, { variables }, { record }) => {
    for (const [name, path] of Object.entries(expected)) variables.set(name, valueAt({ ...record, workflowdata: record.data }, String(path)))
    return []
  },
}

function checkRecord(world: World, expected: Fields, run: Run): Faults {
  assertKnown(expected, Object.keys(CHECKS), 'expect')
  const faults = Object.entries(expected).flatMap(([name, value]) => CHECKS[name]?.(value as never, world, run) ?? [])
  const { failure } = run.record
  return faults.length > 0 && failure !== undefined ? [...faults, `the instance failed: ${shorten(failure)}`] : faults
}
