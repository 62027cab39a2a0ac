import type { Json } from '../../../lib/common/index.ts'
import type { CloudEventRecord } from '../../../lib/events/index.ts'

/** A workflow of the matrix, with what it must come to however often its process ends. */
export interface CrashWorkflow {
  readonly id: string
  /** Workflows that it starts. */
  readonly starts?: readonly string[]
  /** Started with this; absent where events start it. */
  readonly input?: Json
  /** Sent twice each, again and again, until the workflow has finished. */
  readonly events: readonly CloudEventRecord[]
  /** Names of its effects, each with one key; sorted. */
  readonly effects: readonly string[]
  /** Data of the one event that it produces at its end. */
  readonly result: Json
  /** An effect that comes after a timer, and the one before it: so many milliseconds lie between them. */
  readonly timer?: { readonly before: string; readonly after: string; readonly milliseconds: number }
}

/** Milliseconds that timers of the matrix take. */
const SLEEP = 120
const DURATION = `PT${String(SLEEP / 1000)}S`

const mark = (name: string, more: Readonly<Record<string, Json>> = {}): Json => ({
  name,
  functionRef: { refName: 'mark', arguments: { name }, ...more },
  actionDataFilter: { useResults: false },
})
const count: Json = { functionRef: 'count' }
const operation = (name: string, actions: readonly Json[], more: Readonly<Record<string, Json>>): Json => ({ name, type: 'operation', actions, ...more })
const END: Json = { produceEvents: [{ eventRef: 'Finished', data: '.' }] }

function document(id: string, states: readonly Json[]): Json {
  return {
    id,
    version: '1',
    specVersion: '0.8',
    functions: [{ name: 'mark', type: 'custom', operation: 'crash:mark' }, { name: 'count', type: 'expression', operation: '.count = (.count // 0) + 1' }],
    events: [
      ...['One', 'Two'].map((name) => ({ name, type: name.toLowerCase(), source: 'crash', correlation: [{ contextAttributeName: 'order' }] })),
      { name: 'Finished', type: 'finished', kind: 'produced', source: 'crash' },
    ],
    states,
  }
}

const event = (type: string): CloudEventRecord => ({ specversion: '1.0', id: type, source: 'crash', type, order: 'a', data: { [type]: true } })

const DOCUMENTS: readonly Json[] = [
  document('effect', [
    operation('First', [mark('a'), count, mark('b', { invoke: 'async' })], { transition: 'Second' }),
    operation('Second', [mark('c'), count], { end: END }),
  ]),
  document('timer', [
    operation('Before', [mark('before'), count], { transition: 'Sleep' }),
    { name: 'Sleep', type: 'sleep', duration: DURATION, transition: 'After' },
    operation('After', [{ ...mark('after') as object, sleep: { before: DURATION } }, count], { end: END }),
  ]),
  document('event', [
    { name: 'First', type: 'inject', data: {}, transition: 'Wait' },
    { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['One'], actions: [mark('one'), count] }], transition: 'Callback' },
    { name: 'Callback', type: 'callback', action: mark('called'), eventRef: 'Two', timeouts: { eventTimeout: 'PT1H' }, transition: 'Last' },
    operation('Last', [count], { end: END }),
  ]),
  document('gather', [
    {
      name: 'Both',
      type: 'event',
      exclusive: false,
      onEvents: [{ eventRefs: ['One'], eventDataFilter: { toStateData: '.got.first' } }, { eventRefs: ['Two'], eventDataFilter: { toStateData: '.got.second' } }],
      transition: 'Last',
    },
    operation('Last', [mark('gathered'), count], { end: END }),
  ]),
  document('parallel', [
    {
      name: 'Branches',
      type: 'parallel',
      branches: [
        { name: 'x', actions: [mark('x'), count] },
        { name: 'y', actions: [mark('y'), count, mark('z')] },
        { name: 'slow', actions: [{ ...mark('slow') as object, sleep: { before: DURATION } }, count] },
      ],
      transition: 'Last',
    },
    operation('Last', [mark('joined'), count], { end: END }),
  ]),
  document('foreach', [
    { name: 'Each', type: 'foreach', inputCollection: '${ .items }', iterationParam: 'item', mode: 'sequential', actions: [{ name: 'item', functionRef: { refName: 'mark', arguments: { name: '${ "item-" + .item }' } }, actionDataFilter: { useResults: false } }], transition: 'Together' },
    { name: 'Together', type: 'foreach', inputCollection: '${ .items }', iterationParam: 'item', mode: 'parallel', actions: [{ name: 'all', functionRef: { refName: 'mark', arguments: { name: '${ "all-" + .item }' } }, actionDataFilter: { useResults: false } }], transition: 'Last' },
    operation('Last', [count], { end: END }),
  ]),
  document('subflow', [
    operation('Sub', [
      { subFlowRef: { workflowId: 'idle', invoke: 'async', onParentComplete: 'terminate' } },
      { subFlowRef: 'child', actionDataFilter: { results: '.child', toStateData: '.child' } },
      count,
    ], { transition: 'Last' }),
    operation('Last', [mark('parent'), count], { end: END }),
  ]),
  document('child', [
    operation('Ask', [mark('child')], { transition: 'Sleep' }),
    { name: 'Sleep', type: 'sleep', duration: DURATION, transition: 'Answer' },
    { name: 'Answer', type: 'inject', data: { child: 'good' }, end: true },
  ]),
  document('idle', [
    operation('Begin', [mark('idle')], { transition: 'Sleep' }),
    { name: 'Sleep', type: 'sleep', duration: 'P1D', end: true },
  ]),
  document('compensation', [
    operation('A', [mark('a'), count], { compensatedBy: 'UndoA', transition: 'B' }),
    operation('B', [mark('b'), count], { compensatedBy: 'UndoB', transition: 'Decide' }),
    operation('UndoA', [mark('undo-a')], { usedForCompensation: true }),
    operation('UndoB', [mark('undo-b'), count], { usedForCompensation: true }),
    { name: 'Decide', type: 'switch', dataConditions: [{ condition: '${ .count == 2 }', transition: { nextState: 'Last', compensate: true } }], defaultCondition: { end: true } },
    operation('Last', [mark('last'), count], { end: END }),
  ]),
  document('continued', [
    operation('Before', [mark('before')], { end: { continueAs: { workflowId: 'tail', data: '${ {carried: 1} }' } } }),
  ]),
  document('tail', [
    operation('Tail', [mark('tail'), count], { end: END }),
  ]),
]

/** The definitions of a workflow: its own, and those that it starts. */
export function definitionsOf({ id, starts = [] }: CrashWorkflow): readonly { readonly uri: string; readonly document: Json }[] {
  const names = [id, ...starts]
  return DOCUMENTS.flatMap((given) => {
    const name = (given as { readonly id: string }).id
    return names.includes(name) ? [{ uri: `${name}.sw.json`, document: given }] : []
  })
}

/** The workflows of the matrix. */
export const WORKFLOWS: readonly CrashWorkflow[] = [
  { id: 'effect', input: {}, events: [], effects: ['a', 'b', 'c'], result: { count: 2 } },
  { id: 'timer', input: {}, events: [], effects: ['after', 'before'], result: { count: 2 }, timer: { before: 'before', after: 'after', milliseconds: 2 * SLEEP } },
  { id: 'event', input: {}, events: [event('one'), event('two')], effects: ['called', 'one'], result: { count: 2, one: true, two: true } },
  { id: 'gather', events: [event('one'), event('two')], effects: ['gathered'], result: { count: 1, got: { first: { one: true }, second: { two: true } } } },
  { id: 'parallel', input: {}, events: [], effects: ['joined', 'slow', 'x', 'y', 'z'], result: { count: 4 } },
  { id: 'foreach', input: { items: ['p', 'q'] }, events: [], effects: ['all-p', 'all-q', 'item-p', 'item-q'], result: { count: 1, items: ['p', 'q'] } },
  { id: 'subflow', starts: ['child', 'idle'], input: {}, events: [], effects: ['child', 'idle', 'parent'], result: { count: 2, child: 'good' } },
  { id: 'compensation', input: {}, events: [], effects: ['a', 'b', 'last', 'undo-a', 'undo-b'], result: { count: 4 } },
  { id: 'continued', starts: ['tail'], input: {}, events: [], effects: ['before', 'tail'], result: { carried: 1, count: 1 } },
]

/** Where the process is ended: each point of a commit and of an effect, and each table that is written. */
export const POINTS = [
  'before-commit', 'after-commit', 'before-effect', 'after-effect', 'before-answer',
  ...['definition', 'instance', 'passing', 'timer', 'wait', 'history', 'inbox', 'outbox', 'effect', 'gathering', 'idempotency'].map((table) => `write:${table}`),
] as const
