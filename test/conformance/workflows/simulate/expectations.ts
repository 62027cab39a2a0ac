import { jsonEquals } from '../../../../lib/common/index.ts'
import { valueAt } from '../body-path.ts'
import { assertKnown, type Fields } from '../case-file.ts'
import type { WatchedInstance } from '../instance-watch.ts'
import { differences, includesPart, shorten } from '../match.ts'
import { Variables } from '../variables.ts'
import type { Faults } from '../kinds/outcome.ts'
import type { SimulatedCall } from './recorder.ts'
import type { Simulation } from './simulation.ts'

/** What a check looks at: the simulation, and the first instance as it stands. */
interface Settled {
  readonly simulation: Simulation
  readonly record: WatchedInstance | undefined
}

type Check = (expected: never, settled: Settled) => Faults

const noVariables = new Variables('')

const CHECKS: Readonly<Record<string, Check>> = {
  accepted: (expected: boolean, { simulation }) => {
    const { failures } = simulation.runtime.catalogue
    if (expected) return failures.length === 0 ? [] : [`it was refused: ${shorten(faultTexts(simulation), 1000)}`]
    return failures.length > 0 || reportsOf(simulation).length > 0 ? [] : ['it was accepted without a word, expected it to be refused or reported']
  },
  // In words of the corpus, often more than one tool would say: where they name places in the document, one of them has to be told.
  reasons: (expected: readonly string[], { simulation }) => {
    const pointers = expected.flatMap((reason) => reason.split(/\s+/).filter((word) => word.startsWith('/')))
    const told = reportsOf(simulation)
    const found = pointers.some((pointer) => told.some((place) => place.startsWith(pointer) || (place !== '' && pointer.startsWith(`${place}/`))))
    return pointers.length === 0 || found ? [] : [`nothing is told about ${pointers.join(', ')}; told were faults at ${told.join(', ')}`]
  },
  status: (expected: string, settled) => compare('status', statusOf(settled), expected),
  output: (expected: unknown, { record }) => faultsAt('output', record?.data, expected),
  outputContains: (expected: unknown, { record }) =>
    (includesPart(record?.data, expected) ? [] : [`output is ${shorten(record?.data)}, expected it to hold ${shorten(expected)}`]),
  outputMatches: (expected: Fields, { record }) => Object.entries(expected).flatMap(([path, pattern]) => {
    const value = valueAt(record?.data, path)
    return typeof value === 'string' && new RegExp(String(pattern)).test(value) ? [] : [`output.${path} is ${shorten(value)}, expected it to match ${String(pattern)}`]
  }),
  outputSize: (expected: Fields, { record }) => Object.entries(expected).flatMap(([path, size]) => {
    const value = valueAt(record?.data, path)
    return compare(`size of output.${path}`, typeof value === 'object' && value !== null ? Object.keys(value).length : undefined, size)
  }),
  data: (expected: unknown, { record }) => faultsAt('data', record?.data, expected),
  trace: (expected: readonly string[], { simulation }) => compare('trace', traceOf(simulation), expected),
  traceStartsWith: (expected: readonly string[], { simulation }) => compare('trace', traceOf(simulation).slice(0, expected.length), expected),
  traceCount: (expected: Fields, { simulation }) => compare('counts in the trace', pick(countNames(traceOf(simulation)), expected), expected),
  calls: (expected: readonly Fields[], { simulation }) => callFaults(simulation.recorder.calls, expected),
  callsUnordered: (expected: readonly Fields[], { simulation }) => unorderedFaults(simulation.recorder.calls, expected),
  callCount: (expected: number, { simulation }) => compare('number of calls', simulation.recorder.calls.length, expected),
  callNames: (expected: readonly string[], { simulation }) => compare('calls', namesOf(simulation), expected),
  callNamesUnordered: (expected: Fields, { simulation }) => compare('counts of calls', countNames(namesOf(simulation)), expected),
  callTimes: (expected: readonly number[], { simulation }) => compare('times of calls', simulation.recorder.calls.map((call) => call.at), expected),
  firstCall: (expected: Fields, { simulation }) => callFaults(simulation.recorder.calls.slice(0, 1), [expected]),
  secondCall: (expected: Fields, { simulation }) => callFaults(simulation.recorder.calls.slice(1, 2), [expected]),
  lastCall: (expected: Fields, { simulation }) => callFaults(simulation.recorder.calls.slice(-1), [expected]),
  events: (expected: readonly Fields[], { simulation }) => partFaults('event', simulation.recorder.events, expected),
  eventTypes: (expected: readonly string[], { simulation }) => compare('types of events', simulation.recorder.events.map((event) => event['type']), expected),
  error: (expected: Fields, settled) => errorFaults(expected, settled),
  continueAs: (expected: Fields, { simulation }) => partFaults('continueAs', [simulation.continuation ?? {}], [expected]),
  elapsed: (expected: number, { simulation }) => compare('elapsed milliseconds', simulation.time.elapsed, expected),
  instances: (expected: number, { simulation }) => compare('number of instances', simulation.started.length, expected),
  instanceStartTimes: (expected: readonly string[], { simulation }) =>
    compare('start times', simulation.started.map(({ at }) => at), expected.map((instant) => Date.parse(instant))),
  maxConcurrency: (expected: number, { simulation }) => compare('calls at once', simulation.recorder.maxConcurrency, expected),
  batches: (expected: number, { simulation }) => compare('batches', simulation.recorder.batches, expected),
  workflowVersion: (expected: string, { record }) => compare('version', record?.version, expected),
}

/** Compares what was seen with what the `settle` step of a case expects. */
export async function checkSettled(simulation: Simulation, expected: Fields): Promise<Faults> {
  assertKnown(expected, Object.keys(CHECKS), 'expect')
  const settled: Settled = { simulation, record: await simulation.instance() }
  const refused = simulation.runtime.catalogue.failures.length > 0 && expected['accepted'] === undefined
  if (refused) return [`a definition was refused: ${shorten(faultTexts(simulation), 1500)}`]
  const faults = Object.entries(expected).flatMap(([name, value]) => CHECKS[name]?.(value as never, settled) ?? [])
  if (faults.length === 0) return []
  const failure = settled.record?.failure
  const thrown = simulation.startErrors.map((error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)))
  return [...faults, ...failure === undefined ? [] : [`the instance failed: ${shorten(failure)}`], ...thrown.map((text) => `thrown: ${text}`)]
}

function statusOf({ simulation, record }: Settled): string {
  if (simulation.rejection !== undefined) return 'rejected'
  if (record === undefined) return simulation.awaitedState === undefined ? 'absent' : 'waiting'
  if (simulation.continuation !== undefined) return 'continuedAs'
  switch (record.status) {
    case 'completed': return 'completed'
    case 'error': return 'faulted'
    case 'aborted': return 'aborted'
    case 'active':
    case 'waiting': return simulation.endless ? 'active' : 'waiting'
  }
}

/** States entered; a workflow that waits for the event that starts it counts as having entered its first state. */
function traceOf(simulation: Simulation): readonly string[] {
  const names = simulation.watch.steps.filter(({ type, workflowId }) => type === 'stateEntered' && workflowId === simulation.workflowId).map(({ state }) => state ?? '')
  const { awaitedState } = simulation
  return names.length === 0 && awaitedState !== undefined ? [awaitedState] : names
}

function namesOf(simulation: Simulation): readonly string[] {
  return simulation.recorder.calls.map((call) => call.function ?? call.subflow ?? '')
}

function countNames(names: readonly string[]): Fields {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Object.fromEntries(counts)
}

function pick(counts: Fields, keys: Fields): Fields {
  return Object.fromEntries(Object.keys(keys).map((key) => [key, counts[key] ?? 0]))
}

function compare(what: string, actual: unknown, expected: unknown): Faults {
  return jsonEquals(actual, expected) ? [] : [`${what} is ${shorten(actual, 500)}, expected ${shorten(expected, 500)}`]
}

function faultsAt(what: string, actual: unknown, expected: unknown): Faults {
  const faults = jsonEquals(actual, expected) ? [] : differences(actual, expected, noVariables)
  return faults.length === 0 ? [] : [...faults.map((fault) => `${what} ${fault}`), `${what} was ${shorten(actual, 500)}`]
}

function callFaults(actual: readonly SimulatedCall[], expected: readonly Fields[]): Faults {
  return partFaults('call', actual.map((call): Fields => ({ ...call })), expected)
}

/** Lists of equal length in which only the expected keys count. */
function partFaults(what: string, actual: readonly Fields[], expected: readonly Fields[]): Faults {
  if (actual.length !== expected.length) return [`there are ${actual.length} (${what}), expected ${expected.length}: ${shorten(actual, 800)}`]
  return expected.flatMap((wanted, index) => Object.entries(wanted).flatMap(([key, value]) => (key === 'args' && value === null && actual[index]?.['args'] === undefined
    ? []
    : faultsAt(`${what} ${index + 1}: ${key}`, actual[index]?.[key], value))))
}

function unorderedFaults(actual: readonly SimulatedCall[], expected: readonly Fields[]): Faults {
  const left = actual.map((call): Fields => ({ ...call }))
  const missing: Fields[] = []
  for (const wanted of expected) {
    const index = left.findIndex((call) => Object.entries(wanted).every(([key, value]) => jsonEquals(call[key], value)))
    if (index < 0) missing.push(wanted)
    else left.splice(index, 1)
  }
  return missing.length === 0 && left.length === 0 ? [] : [`calls lack ${shorten(missing)} and have too many ${shorten(left)}`]
}

/** `kind` sorts an error by its code; other keys are compared as they are. */
function errorFaults(expected: Fields, { record }: Settled): Faults {
  const failure = record?.failure
  if (failure === undefined) return [`there is no error, expected ${shorten(expected)}`]
  const kind = /TIMEOUT/i.test(failure.code) ? 'timeout' : /^EXPRESSION/.test(failure.code) ? 'expression' : 'error'
  return Object.entries(expected).flatMap(([key, value]) => compare(`error.${key}`, key === 'kind' ? kind : (failure as unknown as Fields)[key], value))
}

function faultTexts(simulation: Simulation): readonly string[] {
  return simulation.runtime.catalogue.failures.flatMap(({ error }) => [error.message, ...error.violations.map(({ pointer, message }) => `${pointer} ${message}`)])
}

/** Places of everything that was told about the definition: faults and warnings. */
function reportsOf(simulation: Simulation): readonly string[] {
  const { failures } = simulation.runtime.catalogue
  const warnings = simulation.runtime.catalogue.list().flatMap((loaded) => loaded.warnings)
  return [...failures.flatMap(({ error }) => error.violations), ...warnings].map(({ pointer }) => pointer)
}
