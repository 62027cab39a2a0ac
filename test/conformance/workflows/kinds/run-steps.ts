import { assertKnown, type Fields, type Step } from '../case-file.ts'
import type { Json } from '../../../../lib/common/index.ts'
import type { InstanceStatus } from '../../../../lib/hosts/index.ts'
import { valueAt } from '../body-path.ts'
import { parseDuration } from '../durations.ts'
import type { WatchedInstance } from '../instance-watch.ts'
import { differences, shorten } from '../match.ts'
import type { World } from '../world.ts'
import type { Faults } from './outcome.ts'

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
  return checkRecord(world, expected, record, { printed, elapsed: world.time.clock.now() - started })
}

/** `runOther`: starts an instance of another definition. */
export async function runOtherStep(world: World, step: Step): Promise<Faults> {
  const { definition, input, ...rest } = step['runOther'] as { readonly definition: string | Fields; readonly input: Json }
  assertKnown(rest, [], 'runOther')
  const given = await world.definitionInput(definition, world.file.definitions.length)
  const id = await world.definitionId(definition)
  if (world.runtime.catalogue.find(id) === undefined) {
    const { failures } = await world.runtime.deploy([given])
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
  return checkRecord(world, step.expect ?? {}, ended, { printed: 0, elapsed: world.time.clock.now() - started })
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
  if (workflow === undefined) throw new Error('the case names no workflow to run')
  return workflow
}

function checkThrown(error: unknown, expected: Fields): Faults {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  // Names of Java exceptions stand for "refused".
  return expected['error'] === undefined ? [`the start failed: ${text}`] : []
}

function checkRecord(world: World, expected: Fields, record: WatchedInstance, seen: { readonly printed: number; readonly elapsed: number }): Faults {
  assertKnown(expected, ['workflowdata', 'workflowdataEquals', 'state', 'within', 'logs', 'error', 'capture'], 'expect')
  const faults: string[] = []
  for (const [path, value] of Object.entries((expected['workflowdata'] ?? {}) as Fields)) {
    faults.push(...differences(valueAt(record.data, path), value, world.variables).map((fault) => `workflowdata.${path} ${fault}`))
  }
  if ('workflowdataEquals' in expected) faults.push(...differences(record.data, expected['workflowdataEquals'], world.variables).map((fault) => `workflowdata ${fault}`))
  if (expected['state'] !== undefined && STATUS_WORDS[record.status] !== expected['state']) {
    faults.push(`state is ${STATUS_WORDS[record.status]}, expected ${String(expected['state'])}`)
  }
  if (expected['within'] !== undefined && seen.elapsed > parseDuration(String(expected['within']))) faults.push(`it took ${seen.elapsed} ms, expected ${String(expected['within'])} at most`)
  if (expected['logs'] !== undefined) faults.push(...differences(world.log.printed.slice(seen.printed), expected['logs'], world.variables).map((fault) => `printed lines ${fault}`))
  if (expected['error'] !== undefined && record.status !== 'error') faults.push(`the instance is ${record.status}, expected the error ${String(expected['error'])}`)
  for (const [name, path] of Object.entries((expected['capture'] ?? {}) as Fields)) world.variables.set(name, valueAt({ ...record, workflowdata: record.data }, String(path)))
  return faults.length > 0 && record.failure !== undefined ? [...faults, `the instance failed: ${shorten(record.failure)}`] : faults
}
