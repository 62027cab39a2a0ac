import { expect } from 'chai'
import type { Json } from '../../../lib/common/index.ts'
import { lint, validate, type LintOptions } from '../../../lib/definition/index.ts'
import { FUNCTIONS, injectState, operationState, workflow } from './support/documents.ts'

type Parts = Readonly<Record<string, Json>>

const SONATAFLOW: LintOptions = { profile: 'sonataflow' }
const EVENTS: Json = [{ name: 'in', type: 't.in', source: 's' }, { name: 'out', type: 't.out', kind: 'produced' }]
const USE_EVENTS = [
  { name: 'E', type: 'event', onEvents: [{ eventRefs: ['in'] }], end: { produceEvents: [{ eventRef: 'out' }] } },
]
const call = (parts: Parts, others: Parts = {}): Parts => ({ functions: FUNCTIONS, states: [operationState('O', [{ functionRef: 'f', ...parts }])], ...others })
const state = (parts: Parts): Parts => ({ states: [parts] })

/** Rule, a document that it warns about, the place, and options. */
const WARNINGS: readonly (readonly [string, Parts, string, LintOptions?])[] = [
  ['tolerated-missing-spec-version', { specVersion: null }, '/specVersion'],
  ['tolerated-spec-version', { specVersion: 'v0.8' }, '/specVersion'],
  ['tolerated-empty-list', { functions: [] }, '/functions'],
  ['tolerated-text-boolean', state(injectState('A', { end: { terminate: 'true' } })), '/states/0/end/terminate'],
  ['tolerated-text-boolean', state(injectState('A', { end: 'true' })), '/states/0/end'],
  ['tolerated-arguments-form', { functions: FUNCTIONS, ...state(operationState('O', [{ functionRef: { refName: 'f', arguments: '.a' } }])) }, '/states/0/actions/0/functionRef/arguments'],
  ['tolerated-ignored-name', { functions: FUNCTIONS, ...state(operationState('O', [{ functionRef: { refName: 'f', name: 'x' } }])) }, '/states/0/actions/0/functionRef/name'],
  ['tolerated-ignored-parameters', { functions: FUNCTIONS, ...state(operationState('O', [{ functionRef: { refName: 'f', parameters: {} } }])) }, '/states/0/actions/0/functionRef/parameters'],
  ['tolerated-boolean-condition', call({ condition: true }), '/states/0/actions/0/condition'],
  ['tolerated-context-attributes-form', { events: EVENTS, states: [{ ...USE_EVENTS[0]!, end: { produceEvents: [{ eventRef: 'out', contextAttributes: [{ a: 'b' }] }] } }] }, '/states/0/end/produceEvents/0/contextAttributes'],
  ['tolerated-attribute-value', { events: EVENTS, states: [{ ...USE_EVENTS[0]!, end: { produceEvents: [{ eventRef: 'out', contextAttributes: { a: 1 } }] } }] }, '/states/0/end/produceEvents/0/contextAttributes/a'],
  ['tolerated-missing-default-condition', state({ name: 'W', type: 'switch', dataConditions: [{ condition: '.a', end: true }] }), '/states/0'],
  ['tolerated-missing-branch-name', state({ name: 'P', type: 'parallel', branches: [{ actions: [] }], end: true }), '/states/0/branches/0'],
  ['tolerated-missing-actions', state({ name: 'O', type: 'operation', end: true }), '/states/0'],
  ['tolerated-missing-error-name', { errors: [{ code: '404' }] }, '/errors/0'],
  ['tolerated-missing-max-attempts', { retries: [{ name: 'r' }] }, '/retries/0'],
  ['tolerated-missing-schedule', { start: { stateName: 'Start' } }, '/start'],
  ['tolerated-missing-fail-on-validation-errors', { dataInputSchema: { schema: {} } }, '/dataInputSchema'],
  ['tolerated-inline-schema', { dataInputSchema: { schema: {}, failOnValidationErrors: true } }, '/dataInputSchema/schema'],
  ['tolerated-metadata-value', { metadata: { a: 1 } }, '/metadata/a'],
  ['tolerated-inject-on-errors', state(injectState('A', { onErrors: [], end: true })), '/states/0/onErrors'],
  ['tolerated-inject-data', state(injectState('A', { data: 'x', end: true })), '/states/0/data', SONATAFLOW],
  ['tolerated-missing-source', { events: [{ name: 'e', type: 't' }] }, '/events/0', SONATAFLOW],
  ['tolerated-empty-source', { events: [{ name: 'e', type: 't', source: null }] }, '/events/0/source', SONATAFLOW],
  ['tolerated-missing-result-event', { events: EVENTS, ...state(operationState('O', [{ eventRef: { triggerEventRef: 'out' } }])) }, '/states/0/actions/0/eventRef', SONATAFLOW],
  ['tolerated-state-event-timeout', { events: EVENTS, ...state({ name: 'W', type: 'switch', eventConditions: [{ eventRef: 'in', end: true }], eventTimeout: 'PT1S', defaultCondition: { end: true } }) }, '/states/0/eventTimeout', SONATAFLOW],
  ['tolerated-duration-form', state({ name: 'S', type: 'sleep', duration: 'PT30D', end: true }), '/states/0/duration'],
  ['tolerated-duration-form', state({ name: 'S', type: 'sleep', duration: '1s', end: true }), '/states/0/duration'],
  ['tolerated-iteration-param', state({ name: 'E', type: 'foreach', inputCollection: '.l', iterationParam: '${ .tx }', actions: [], end: true }), '/states/0/iterationParam'],
  ['tolerated-unknown-property', call({ sleep: { before: 'PT1S', during: 'PT1S' } }), '/states/0/actions/0/sleep/during'],
  ['unused-definition', { functions: FUNCTIONS }, '/functions/0'],
  ['unused-definition', { errors: [{ name: 'e' }] }, '/errors/0'],
  ['timeout-without-effect', state(injectState('A', { end: true, timeouts: { eventTimeout: 'PT1S' } })), '/states/0/timeouts/eventTimeout'],
  ['timeout-without-effect', state({ name: 'P', type: 'parallel', branches: [{ name: 'a', actions: [], timeouts: { eventTimeout: 'PT1S' } }], end: true }), '/states/0/branches/0/timeouts/eventTimeout'],
  ['sleep-without-effect', { events: EVENTS, ...state(operationState('O', [{ eventRef: { triggerEventRef: 'out', resultEventRef: 'in' }, sleep: { before: 'PT1S' } }])) }, '/states/0/actions/0/sleep'],
  ['filter-without-effect', { functions: FUNCTIONS, ...state(operationState('O', [{ functionRef: { refName: 'f', invoke: 'async' }, actionDataFilter: { results: '.a' } }])) }, '/states/0/actions/0/actionDataFilter'],
  ['retry-without-effect', call({ nonRetryableErrors: ['e'] }, { errors: [{ name: 'e' }] }), '/states/0/actions/0/nonRetryableErrors'],
  ['retry-without-effect', call({ retryableErrors: ['e'] }, { errors: [{ name: 'e' }], autoRetries: true }), '/states/0/actions/0/retryableErrors'],
  ['correlation-without-effect', { events: [{ name: 'e', type: 't', kind: 'produced', correlation: [{ contextAttributeName: 'a' }] }] }, '/events/0/correlation'],
  ['batch-size-without-effect', state({ name: 'E', type: 'foreach', inputCollection: '.l', mode: 'sequential', batchSize: 2, actions: [], end: true }), '/states/0/batchSize'],
  ['unknown-extension', { extensions: [{ extensionid: 'mine' }] }, '/extensions/0'],
  ['unconnected-state', { states: [injectState('A'), injectState('B')] }, '/states/1'],
  ['event-kind', { events: EVENTS, ...state(injectState('A', { end: { produceEvents: [{ eventRef: 'in' }] } })) }, '/states/0/end/produceEvents/0/eventRef'],
  ['ambiguous-events', { events: [{ name: 'a', type: 't', source: 's' }, { name: 'b', type: 't', source: 's' }] }, '/events/1'],
  ['unreachable-default', { events: EVENTS, ...state({ name: 'W', type: 'switch', eventConditions: [{ eventRef: 'in', end: true }], defaultCondition: { end: true } }) }, '/states/0/defaultCondition'],
  ['duplicate-branch-name', state({ name: 'P', type: 'parallel', branches: [{ name: 'a', actions: [] }, { name: 'a', actions: [] }], end: true }), '/states/0/branches/1'],
  ['expression-in-constant', { constants: { a: { b: '${ .x }' } } }, '/constants/a'],
  ['continue-as-terminates', state(injectState('A', { end: { continueAs: 'x', terminate: false } })), '/states/0/end/terminate'],
  ['unknown-function-type', { functions: [{ name: 'f', type: 'custom', operation: 'divison:x' }] }, '/functions/0/operation', { functionTypes: ['division'] }],
]

describe('definition/lint', () => {
  it('has nothing to say about a clean definition', () => {
    const clean = workflow({ functions: FUNCTIONS, events: EVENTS, states: [operationState('O', [{ functionRef: 'f' }], { transition: 'E' }), ...USE_EVENTS] })
    expect(lint(clean)).to.deep.equal([])
  })

  for (const [rule, parts, pointer, options = {}] of WARNINGS) {
    it(`tells ${rule} at ${pointer}`, () => {
      const { specVersion, ...rest } = workflow(parts)
      const document = specVersion === null ? rest : { ...rest, specVersion: specVersion ?? '0.8' }
      expect(validate(document, options)).to.deep.equal([])
      const places = lint(document, options).filter((warning) => warning.rule === rule).map((warning) => warning.pointer)
      expect(places.some((place) => place === pointer || (rule.includes('missing') && pointer.startsWith(place))), JSON.stringify(lint(document, options))).to.equal(true)
    })
  }

  it('knows the namespaces of the product and of the host', () => {
    const functions = ['service:A::b', 'sysout', 'rest:get:/x', 'division:10'].map((operation, index) => ({ name: `f${String(index)}`, type: 'custom', operation }))
    expect(lint(workflow({ functions }), { functionTypes: ['division'] }).map(({ rule }) => rule)).to.not.include('unknown-function-type')
    expect(lint(workflow({ functions })).map(({ rule }) => rule)).to.not.include('unknown-function-type')
  })

  it('counts an expression function that expressions name as used', () => {
    const functions: Json = [{ name: 'isAdult', type: 'expression', operation: '.age >= 18' }]
    const choice = { name: 'W', type: 'switch', dataConditions: [{ condition: '${ fn:isAdult }', end: true }], defaultCondition: { end: true } }
    expect(lint(workflow({ functions, states: [choice] }))).to.deep.equal([])
  })
})
