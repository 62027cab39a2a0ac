import fc from 'fast-check'
import type { Json, JsonObject } from '../../../lib/common/index.ts'

type Parts = Readonly<Record<string, Json>>

const duration = fc.constantFrom('PT1S', 'PT0.5S', 'P1D', 'PT30D', '10s', '$CONST.wait')
const expression = fc.constantFrom('${ .a }', '.a.b', '$CONST.wait', '${ .list | length }', 'text')
const name = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', 'b', 'Z', ' ', '.', '#', 'é', '-', '7') }).filter((text) => text.trim() !== '')
const flag = fc.constantFrom<Json>(true, false, 'true', 'false')
const data: fc.Arbitrary<JsonObject> = fc.dictionary(fc.string({ maxLength: 6 }), fc.oneof(expression, fc.integer(), fc.boolean(), fc.constant(null)), { maxKeys: 4 })

/** Makes objects whose given properties may be left out. */
function some(properties: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<Parts> {
  return fc.record(properties, { requiredKeys: [] }) as fc.Arbitrary<Parts>
}

const action: fc.Arbitrary<Parts> = fc.tuple(
  fc.oneof(
    fc.constant<Parts>({ functionRef: 'f' }),
    fc.record({ refName: fc.constant('f'), arguments: fc.oneof<fc.Arbitrary<Json>[]>(data, expression), invoke: fc.constantFrom('sync', 'async') }).map((functionRef): Parts => ({ functionRef })),
    fc.constant<Parts>({ subFlowRef: 'other' }),
    fc.constant<Parts>({ subFlowRef: { workflowId: 'other', version: '2' } }),
    data.map((content): Parts => ({ eventRef: { triggerEventRef: 'out', resultEventRef: 'in', data: content } })),
  ),
  some({
    name, condition: expression, retryRef: fc.constant('again'), retryableErrors: fc.constant<Json>(['broken']),
    sleep: some({ before: duration, after: duration }), actionDataFilter: some({ fromStateData: expression, results: expression, toStateData: expression, useResults: flag }),
  }),
).map(([kind, parts]) => ({ ...parts, ...kind }))

const actions = fc.array(action, { maxLength: 3 }) as fc.Arbitrary<Json>
const eventFilter = some({ data: expression, toStateData: expression, useData: flag })

const producedEvents = fc.array(some({ data: fc.oneof<fc.Arbitrary<Json>[]>(data, expression), contextAttributes: fc.constant<Json>({ a: 'b' }) })
  .map((parts): Json => ({ ...parts, eventRef: 'out' })), { maxLength: 2 })

/** A way on: to a later state, or to an end. */
function goingOn(next: string | undefined): fc.Arbitrary<Parts> {
  const end = fc.oneof(
    fc.constant<Json>(true), fc.constant<Json>('true'),
    some({ terminate: flag, compensate: flag, produceEvents: producedEvents, continueAs: fc.constantFrom<Json>('other', { workflowId: 'other', data: '.a' }) }),
  ).map((value): Parts => ({ end: value }))
  if (next === undefined) return end
  const transition = fc.oneof(fc.constant<Json>(next), some({ compensate: flag, produceEvents: producedEvents }).map((parts): Json => ({ ...parts, nextState: next })))
  return transition.map((value): Parts => ({ transition: value }))
}

const timeouts = some({ stateExecTimeout: fc.oneof<fc.Arbitrary<Json>[]>(duration, fc.constant({ total: 'PT1H', single: 'PT1M' })), eventTimeout: duration, actionExecTimeout: duration })

const branches = fc.array(fc.tuple(some({ name, timeouts: some({ branchExecTimeout: duration }) }), actions).map(([parts, list]): Json => ({ ...parts, actions: list })), { minLength: 2, maxLength: 3 })

/** The part of a state that belongs to its type. */
function typePart(next: string | undefined): fc.Arbitrary<Parts> {
  const on = goingOn(next)
  const conditions = (part: fc.Arbitrary<Parts>): fc.Arbitrary<Json> =>
    fc.array(fc.tuple(part, on).map(([first, second]): Json => ({ ...first, ...second })), { minLength: 1, maxLength: 2 })
  const withOn = (part: fc.Arbitrary<Parts>): fc.Arbitrary<Parts> => fc.tuple(part, on).map(([first, second]) => ({ ...first, ...second }))
  return fc.oneof(
    withOn(fc.tuple(actions, fc.constantFrom('sequential', 'parallel')).map(([list, actionMode]): Parts => ({ type: 'operation', actions: list, actionMode }))),
    withOn(data.map((content): Parts => ({ type: 'inject', data: content }))),
    withOn(duration.map((text): Parts => ({ type: 'sleep', duration: text }))),
    withOn(fc.tuple(branches, fc.constantFrom<Json>(1, '2', '.n')).map(([list, numCompleted]): Parts => ({ type: 'parallel', branches: list, completionType: 'atLeast', numCompleted }))),
    withOn(fc.tuple(actions, some({ iterationParam: fc.constantFrom('${ .tx }', 'tx'), batchSize: fc.constantFrom<Json>(2, '3', '.n'), mode: fc.constantFrom('sequential', 'parallel'), outputCollection: expression }))
      .map(([list, parts]): Parts => ({ ...parts, type: 'foreach', inputCollection: '${ .list }', actions: list }))),
    withOn(fc.tuple(actions, eventFilter, flag).map(([list, eventDataFilter, exclusive]): Parts => ({ type: 'event', exclusive, onEvents: [{ eventRefs: ['in'], actions: list, eventDataFilter }] }))),
    withOn(fc.tuple(action, eventFilter).map(([single, eventDataFilter]): Parts => ({ type: 'callback', action: single, eventRef: 'in', eventDataFilter }))),
    fc.tuple(conditions(expression.map((condition): Parts => ({ condition }))), on).map(([dataConditions, defaultCondition]): Parts => ({ type: 'switch', dataConditions, defaultCondition })),
    fc.tuple(conditions(eventFilter.map((eventDataFilter): Parts => ({ eventRef: 'in', eventDataFilter }))), on).map(([eventConditions, defaultCondition]): Parts => ({ type: 'switch', eventConditions, defaultCondition })),
  )
}

/** Makes valid documents: chains of states of every type, with most of what they may hold. */
export const arbitraryWorkflow: fc.Arbitrary<JsonObject> = fc.uniqueArray(name, { minLength: 1, maxLength: 5, selector: (text) => text.trim() })
  .chain((names) => fc.tuple(
    fc.tuple(...names.map((stateName, index) => fc.tuple(
      typePart(names[index + 1]),
      some({ stateDataFilter: some({ input: expression, output: expression }), timeouts, metadata: fc.constant<Json>({ note: 'x' }) }),
    ).map(([part, common]): Json => ({ ...common, ...part, name: stateName })))),
    some({
      version: fc.constantFrom('1.0', '2.1'), start: fc.constant(names[0] ?? ''), keepActive: flag, autoRetries: flag, annotations: fc.constant<Json>(['a']),
      timeouts: some({ workflowExecTimeout: fc.constantFrom<Json>('PT1H', { duration: 'PT1H', interrupt: true }), stateExecTimeout: duration, branchExecTimeout: duration }),
      dataInputSchema: fc.constant<Json>({ schema: { type: 'object' }, failOnValidationErrors: false }), secrets: fc.constant<Json>(['TOKEN']),
    }),
    some({ delay: duration, maxDelay: duration, multiplier: fc.constantFrom<Json>(2, '1.5'), jitter: fc.constantFrom<Json>(0.2, '0.1', 'PT1S'), increment: duration }),
  ))
  .map(([states, parts, retry]) => ({
    id: 'generated',
    specVersion: '0.8',
    ...parts,
    constants: { wait: 'PT5S' },
    functions: [{ name: 'f', type: 'custom', operation: 'service:Orders::create' }],
    events: [{ name: 'in', type: 't.in', source: 's' }, { name: 'out', type: 't.out', kind: 'produced' }],
    errors: [{ name: 'broken', code: '500' }],
    retries: [{ name: 'again', maxAttempts: 3, ...retry }],
    states,
  }))
