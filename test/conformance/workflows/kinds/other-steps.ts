import { assertKnown, type Fields, type Step } from '../case-file.ts'
import { valueAt } from '../body-path.ts'
import { differences, shorten } from '../match.ts'
import type { World } from '../world.ts'
import type { Faults } from './outcome.ts'
import { CaseFault } from '../case-fault.ts'

/** `verifyCall`: calls of a host function, with parts of their data. */
export async function verifyCallStep(world: World, step: Step): Promise<Faults> {
  await world.settle()
  const fields = step['verifyCall'] as Fields
  assertKnown(fields, ['function', 'times', 'args'], 'verifyCall')
  const calls = world.host.calls.filter(({ name }) => name === fields['function'])
  const fitting = calls.filter(({ data }) => Object.entries((fields['args'] ?? {}) as Fields)
    .every(([path, value]) => differences(valueAt(data, path), value, world.variables).length === 0))
  const { times } = fields
  if (times === undefined ? fitting.length > 0 : fitting.length === times) return []
  return [`${String(fields['function'])} was called ${fitting.length} times as expected, wanted ${String(times ?? 'at least once')}; `
    + `all its calls: ${shorten(calls.map(({ data }) => data))}`]
}

/** `verifyCallOrder`: names of the host functions called since the last request. */
export async function verifyCallOrderStep(world: World, step: Step): Promise<Faults> {
  await world.settle()
  const names = world.host.callsSinceMark().map(({ name }) => name)
  return differences(names, step['verifyCallOrder'], world.variables).map((fault) => `the order of calls ${fault}`).slice(0, 1)
}

/** `verifyLog`: how often texts occur in the log; a number or `2..4`. */
export async function verifyLogStep(world: World, step: Step): Promise<Faults> {
  await world.settle()
  return Object.entries(step['verifyLog'] as Fields).flatMap(([text, wanted]) => {
    const [least = 0, most = least] = String(wanted).split('..').map(Number)
    const count = world.log.count(text)
    return count >= least && count <= most ? [] : [`"${text}" is ${count} times in the log, expected ${String(wanted)}`]
  })
}

/** `verifyLifecycleEvents`: `variable <name>` is an event that tells a new value of that variable. */
export async function verifyLifecycleEventsStep(world: World, step: Step): Promise<Faults> {
  const missing = (): readonly string[] => (step['verifyLifecycleEvents'] as readonly string[]).filter((words) => {
    const name = /^variable (\S+)$/.exec(words)?.[1]
    if (name === undefined) throw new CaseFault(`this runner does not know the lifecycle event "${words}"`)
    return !world.servers.broker.events.some((event) =>
      event['type'] === 'ProcessInstanceVariableDataEvent' && valueAt(event, 'data.variableName') === name)
  })
  await world.poll(() => (missing().length === 0 ? true : undefined), 1000)
  return missing().map((words) => `no lifecycle event tells: ${words}`)
}

/** `addDefinition`: deploys while running. */
export async function addDefinitionStep(world: World, step: Step): Promise<Faults> {
  const failures = await world.deploy(await world.definitionInput(String(step['addDefinition'])))
  return failures.map(({ uri, error }) => `${uri} was refused: ${error.message}`)
}

/** `restart`: stops the product and starts it with the same store. */
export async function restartStep(world: World): Promise<Faults> {
  await world.settle()
  await world.restart()
  return []
}
