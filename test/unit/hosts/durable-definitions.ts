import type { Json } from '../../../lib/common/index.ts'

// Small definitions for tests of durable instances: functions of type `suite`, events of source `suite` correlated by `order`.

/** Makes a definition of states. */
export function definition(id: string, states: readonly Json[], more: Readonly<Record<string, Json>> = {}): { uri: string; document: Json } {
  const consumed = ['Go', 'One', 'Two'].map((name) => ({ name, type: name.toLowerCase(), source: 'suite', correlation: [{ contextAttributeName: 'order' }] }))
  return {
    uri: `${id}.sw.json`,
    document: {
      id,
      version: '1',
      specVersion: '0.8',
      functions: [{ name: 'call', type: 'custom', operation: 'suite:call' }],
      events: [...consumed, { name: 'Done', type: 'done', kind: 'produced', source: id }],
      states,
      ...more,
    },
  }
}

/** An action that calls the function of the suite and keeps its answer. */
export function call(more: Readonly<Record<string, Json>> = {}): Json {
  return { functionRef: { refName: 'call', ...more }, actionDataFilter: { toStateData: '.answer' } }
}

/** A first state that does nothing: a definition that begins with an event state would be started by the event. */
export const FIRST: Json = { name: 'First', type: 'inject', data: {}, transition: 'Wait' }

/** Waits for an event, and produces one at the end. */
export const WAIT = { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['Go'], eventDataFilter: { toStateData: '.go' } }], end: { produceEvents: [{ eventRef: 'Done', data: '.' }] } }

export const SLEEP = { name: 'Sleep', type: 'sleep', duration: 'PT10M', end: true }

interface SuiteEvent {
  readonly specversion: string
  readonly id: string
  readonly source: string
  readonly type: string
  readonly order: string
  readonly data: Json
  readonly [name: string]: Json
}

/** An event of the suite for one order. */
export function event(type: string, order: string, id = `${type}-${order}`): SuiteEvent {
  return { specversion: '1.0', id, source: 'suite', type, order, data: { order } }
}

/** Waits until something is so, turn by turn of the event loop. @throws when it does not come to be so */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 10_000; turns += 1) {
    if (condition()) return
    await new Promise((resolve) => { setImmediate(resolve) })
  }
  throw new Error('What a test waits for did not come to be so in 10,000 iterations of the event loop')
}
