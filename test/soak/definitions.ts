import type { Json } from '../../lib/common/index.ts'

/** Milliseconds of the sleep state. */
export const SLEEP = 200

const mark = (name: string, more: Record<string, Json> = {}): Json => ({
  name,
  functionRef: { refName: 'mark', arguments: { name, order: '${ .order }', item: '${ .item // null }' } },
  actionDataFilter: { useResults: false },
  ...more,
})

/** A workflow with an effect, a timer, an event, branches, a loop, a sub-flow, an asynchronous call and compensation. */
const ORDER: Json = {
  id: 'order',
  version: '1.0',
  specVersion: '0.8',
  start: 'Reserve',
  functions: [{ name: 'mark', type: 'custom', operation: 'soak:mark' }, { name: 'add', type: 'expression', operation: '.count = (.count // 0) + 1' }],
  events: [
    { name: 'Paid', type: 'order.paid', source: 'shop', correlation: [{ contextAttributeName: 'order' }] },
    { name: 'Finished', type: 'order.finished', kind: 'produced', source: 'orders' },
  ],
  states: [
    { name: 'Reserve', type: 'operation', actions: [mark('reserve'), { functionRef: 'add' }], compensatedBy: 'Release', transition: 'Prepare' },
    { name: 'Release', type: 'operation', usedForCompensation: true, actions: [mark('release')] },
    {
      name: 'Prepare',
      type: 'parallel',
      branches: [
        { name: 'pack', actions: [mark('pack'), { functionRef: 'add' }] },
        { name: 'label', actions: [mark('label'), { functionRef: 'add' }] },
        { name: 'check', actions: [{ subFlowRef: 'credit', actionDataFilter: { results: '.credit', toStateData: '.credit' } }] },
        { name: 'note', actions: [mark('note', { functionRef: { refName: 'mark', invoke: 'async', arguments: { name: 'note', order: '${ .order }', item: null } } })] },
      ],
      transition: 'Items',
    },
    { name: 'Items', type: 'foreach', inputCollection: '${ .items }', iterationParam: 'item', mode: 'sequential', actions: [mark('item')], transition: 'Rest' },
    { name: 'Rest', type: 'sleep', duration: `PT${String(SLEEP / 1000)}S`, transition: 'Ready' },
    { name: 'Ready', type: 'operation', actions: [mark('ready')], transition: 'Payment' },
    { name: 'Payment', type: 'event', onEvents: [{ eventRefs: ['Paid'], actions: [], eventDataFilter: { toStateData: '.paid' } }], transition: 'Decide' },
    {
      name: 'Decide',
      type: 'switch',
      dataConditions: [{ condition: '${ .cancel == true }', transition: { nextState: 'Finish', compensate: true } }],
      defaultCondition: { transition: 'Finish' },
    },
    {
      name: 'Finish',
      type: 'operation',
      actions: [mark('finish')],
      end: { produceEvents: [{ eventRef: 'Finished', data: '${ {order, count, credit, paid} }' }] },
    },
  ],
}

const CREDIT: Json = {
  id: 'credit',
  version: '1.0',
  specVersion: '0.8',
  start: 'Ask',
  functions: [{ name: 'mark', type: 'custom', operation: 'soak:mark' }],
  states: [
    { name: 'Ask', type: 'operation', actions: [mark('credit')], transition: 'Wait' },
    { name: 'Wait', type: 'sleep', duration: 'PT0.05S', transition: 'Answer' },
    { name: 'Answer', type: 'inject', data: { credit: 'good' }, end: true },
  ],
}

export const DEFINITIONS = [{ uri: 'order.sw.json', document: ORDER }, { uri: 'credit.sw.json', document: CREDIT }] as const

/** Names of the effects of one order, each once; `item` three times, `release` only when it is cancelled. */
export const EFFECTS = ['reserve', 'pack', 'label', 'credit', 'note', 'item', 'item', 'item', 'ready', 'finish'] as const
