import { expect } from 'chai'
import type { Json } from '../../../lib/common/index.ts'
import { validate } from '../../../lib/definition/index.ts'
import { FUNCTIONS, injectState, operationState, workflow } from './support/documents.ts'

type Parts = Readonly<Record<string, Json>>

const CALL: Json = [{ functionRef: 'f' }]
const parallel = (parts: Parts): Parts => ({
  functions: FUNCTIONS,
  states: [{ name: 'P', type: 'parallel', branches: [{ name: 'a', actions: CALL }, { name: 'b', actions: CALL }], end: true, ...parts }],
})
const foreach = (parts: Parts): Parts => ({
  functions: FUNCTIONS, states: [{ name: 'E', type: 'foreach', inputCollection: '${ .list }', actions: CALL, end: true, ...parts }],
})
const choice = (parts: Parts): Parts => ({ states: [{ name: 'W', type: 'switch', defaultCondition: { end: true }, ...parts }] })
const action = (parts: Parts, others: Parts = {}): Parts => ({ functions: FUNCTIONS, states: [operationState('O', [parts])], ...others })
const EVENTS: Json = [{ name: 'in', type: 't.in', source: 's' }, { name: 'out', type: 't.out', kind: 'produced' }]
const auth = (parts: Parts): Parts => ({ auth: [{ name: 'a', ...parts }] })
const retry = (parts: Parts): Parts => ({ retries: [{ name: 'r', maxAttempts: 1, ...parts }] })
const start = (schedule: Json): Parts => ({ start: { stateName: 'Start', schedule } })
const timeout = (parts: Parts, states: Json): Parts => ({ timeouts: { workflowExecTimeout: { duration: 'PT1H', ...parts } }, states })

/** Documents with one fault: title, parts, pointer, message or hint. */
const FAULTS: readonly (readonly [string, Parts, string, RegExp])[] = [
  ['no id (S001)', { id: null }, '/id', /is null/],
  ['an id and a key (S001)', { key: 'k' }, '/key', /exclude/],
  ['an id that is an expression (S001)', { id: '${ .id }' }, '/id', /expression/],
  ...['.', '..', 'q', 'management', 'messaging', 'inspect', 'functions'].map((id): readonly [string, Parts, string, RegExp] =>
    [`the id "${id}" that hides an address`, { id }, '/id', /hide an address/]),
  ['an id with a control character', { id: 'a\nb' }, '/id', /control character/],
  ['specVersion 0.7 (S006)', { specVersion: '0.7' }, '/specVersion', /0\.7 is not supported.*0\.8/],
  ['an unknown language (S010)', { expressionLang: 'jq2' }, '/expressionLang', /jq, jsonata, jsonpath/],
  ['no states (S007)', { states: [] }, '/states', /empty/],
  ['two states of one name (S008)', { states: [injectState('A', { transition: 'A' }), injectState('A')] }, '/states/1/name', /duplicated/],
  ['two functions of one name (S115)', { functions: [{ name: 'f', operation: 'a#b' }, { name: 'f', operation: 'a#b' }] }, '/functions/1/name', /duplicated/],
  ['an unknown start (S009)', { start: 'Strat' }, '/start', /Strat does not exist.*did you mean "Start"/],
  ['an unknown start in an object (S254)', { start: { stateName: 'X', schedule: 'R/PT1H' } }, '/start/stateName', /does not exist/],
  ['an unknown state type (S097)', { states: [{ name: 'D', type: 'delay', timeDelay: 'PT1S', end: true }] }, '/states/0/type', /delay is a sleep state/],
  ['an unknown property (S014)', { states: [injectState('A', { end: true, metdata: {} })] }, '/states/0/metdata', /did you mean metadata/],
  ['an old property (S114)', { functions: FUNCTIONS, states: [operationState('A', [{ functionRef: 'f', actionFilter: {} }])] }, '/states/0/actions/0/actionFilter', /write actionDataFilter/],
  ['a transition to nowhere (S281)', { states: [injectState('A', { transition: 'B' })] }, '/states/0/transition', /no state/],
  ['transition and end (S096)', { states: [injectState('A', { transition: 'A', end: true })] }, '/states/0', /exclude/],
  ['neither transition nor end (S096)', { states: [injectState('A', {})] }, '/states/0', /neither/],
  ['end false (S266)', { states: [injectState('A', { end: false })] }, '/states/0', /neither/],
  ['an unknown function (S017)', { functions: FUNCTIONS, states: [operationState('A', [{ functionRef: 'g' }])] }, '/states/0/actions/0/functionRef', /function g is not defined.*"f"/],
  ['an action of two kinds (S099)', action({ functionRef: 'f', subFlowRef: 'x' }), '/states/0/actions/0', /exclude/],
  ['an action of no kind (S099)', action({ name: 'nothing' }), '/states/0/actions/0', /does nothing/],
  ['sysout without arguments', { functions: [{ name: 'log', type: 'custom', operation: 'sysout' }], states: [operationState('A', [{ functionRef: 'log' }])] }, '/states/0/actions/0/functionRef', /nothing to print/],
  ['a function without operation (S127)', { functions: [{ name: 'f', metadata: { image: 'x' } }] }, '/functions/0', /operation is missing.*containers/],
  ['a function of type console (S116)', { functions: [{ name: 'f', type: 'console', operation: 'x' }] }, '/functions/0/type', /sysout/],
  ['a rest operation without operationId (S117)', { functions: [{ name: 'f', operation: 'specs/a.yaml' }] }, '/functions/0/operation', /OpenAPI document # operationId/],
  ['a rest operation with nothing behind #', { functions: [{ name: 'f', operation: 'specs/a.yaml#' }] }, '/functions/0/operation', /OpenAPI/],
  ['an rpc operation without method (S120)', { functions: [{ name: 'f', type: 'rpc', operation: 'a.proto#S' }] }, '/functions/0/operation', /service # method/],
  ['a graphql subscription (S121)', { functions: [{ name: 'f', type: 'graphql', operation: 'http://h#subscription#x' }] }, '/functions/0/operation', /query or mutation/],
  ['a graphql call without selectionSet (S121)', { functions: [{ name: 'f', type: 'graphql', operation: 'http://h#query#x' }], states: [operationState('A', [{ functionRef: { refName: 'f', arguments: {} } }])] }, '/states/0/actions/0/functionRef', /selectionSet/],
  ['an odata operation without entity set (S123)', { functions: [{ name: 'f', type: 'odata', operation: 'http://h' }] }, '/functions/0/operation', /entity set/],
  ['an unknown auth (S126)', { functions: [{ name: 'f', operation: 'a#b', authRef: 'x' }] }, '/functions/0/authRef', /auth x is not defined/],
  ['basic without password (S285)', auth({ properties: { username: 'u' } }), '/auth/0/properties', /misses password/],
  ['bearer properties under basic (S283)', auth({ properties: { token: 't' } }), '/auth/0/properties', /scheme is basic when not given/],
  ['an unknown grant (S287)', auth({ scheme: 'oauth2', properties: { grantType: 'code', clientId: 'c' } }), '/auth/0/properties/grantType', /clientCredentials/],
  ['a password grant without user (S289)', auth({ scheme: 'oauth2', properties: { grantType: 'password', clientId: 'c' } }), '/auth/0/properties', /username, password/],
  ['a token exchange without token (S290)', auth({ scheme: 'oauth2', properties: { grantType: 'tokenExchange', clientId: 'c' } }), '/auth/0/properties', /subjectToken/],
  ['a consumed event without source (S130)', { events: [{ name: 'e', type: 't' }] }, '/events/0', /no source/],
  ['a consumed event with an empty source (S132)', { events: [{ name: 'e', type: 't', source: '' }] }, '/events/0', /no source/],
  ['an unknown event', { states: [{ name: 'E', type: 'event', onEvents: [{ eventRefs: ['e'] }], end: true }] }, '/states/0/onEvents/0/eventRefs/0', /consumed event e is not defined/],
  ['one event twice in one entry (S034)', { events: EVENTS, states: [{ name: 'E', type: 'event', onEvents: [{ eventRefs: ['in', 'in'] }], end: true }] }, '/states/0/onEvents/0/eventRefs', /twice/],
  ['an unknown produced event', { states: [injectState('A', { end: { produceEvents: [{ eventRef: 'e' }] } })] }, '/states/0/end/produceEvents/0/eventRef', /produced event e/],
  ['eventRef without result (S103)', action({ eventRef: { triggerEventRef: 'out' } }, { events: EVENTS }), '/states/0/actions/0/eventRef', /resultEventRef/],
  ['a list of event data (S141)', { events: EVENTS, states: [injectState('A', { end: { produceEvents: [{ eventRef: 'out', data: [1] }] } })] }, '/states/0/end/produceEvents/0/data', /a list/],
  ['an unknown error (S017)', { states: [{ name: 'S', type: 'sleep', duration: 'PT1S', onErrors: [{ errorRef: 'e', end: true }], end: true }] }, '/states/0/onErrors/0', /error e is not defined/],
  ['errorRef and errorRefs (S198)', { errors: [{ name: 'e' }], states: [{ name: 'S', type: 'sleep', duration: 'PT1S', onErrors: [{ errorRef: 'e', errorRefs: ['e'], end: true }], end: true }] }, '/states/0/onErrors/0', /exclude/],
  ['a handler of no error', { states: [{ name: 'S', type: 'sleep', duration: 'PT1S', onErrors: [{ end: true }], end: true }] }, '/states/0/onErrors/0', /names no error/],
  ['an unknown retry', action({ functionRef: 'f', retryRef: 'r' }), '/states/0/actions/0/retryRef', /retry r is not defined/],
  ['an unknown retryable error', action({ functionRef: 'f', retryableErrors: ['e'] }), '/states/0/actions/0/retryableErrors/0', /error e/],
  ['a negative multiplier (S215)', retry({ multiplier: -1 }), '/retries/0/multiplier', /from 0/],
  ['a fraction of attempts (S213)', retry({ maxAttempts: 1.5 }), '/retries/0/maxAttempts', /whole number/],
  ['attempts that are an expression', retry({ maxAttempts: '${ .n }' }), '/retries/0/maxAttempts', /whole number/],
  ['a jitter over 1 (S217)', retry({ jitter: 2 }), '/retries/0/jitter', /from 0 to 1/],
  ['a jitter that is no duration', retry({ jitter: 'some' }), '/retries/0/jitter', /PT1S/],
  ['a retry delay of months', retry({ delay: 'P1M' }), '/retries/0/delay', /months and years/],
  ['a sleep of no duration (S055)', { states: [{ name: 'S', type: 'sleep', duration: 'soon', end: true }] }, '/states/0/duration', /no duration/],
  ['a duration from an unknown constant', { states: [{ name: 'S', type: 'sleep', duration: '$CONST.wait', end: true }] }, '/states/0/duration', /no constant/],
  ['both kinds of conditions (S043)', choice({ dataConditions: [{ condition: '.a', end: true }], eventConditions: [] }), '/states/0', /exclude/],
  ['a switch without conditions (S043)', choice({}), '/states/0', /no conditions/],
  ['a condition that goes nowhere (S047)', choice({ dataConditions: [{ condition: '.a' }] }), '/states/0/dataConditions/0', /neither/],
  ['a switch with a transition (S051)', choice({ dataConditions: [{ condition: '.a', end: true }], end: true }), '/states/0/end', /additional/],
  ['the old place of the event timeout (S050)', choice({ dataConditions: [{ condition: '.a', end: true }], eventTimeout: 'PT1S' }), '/states/0/eventTimeout', /timeouts\.eventTimeout/],
  ['atLeast without a number (S060)', parallel({ completionType: 'atLeast' }), '/states/0/numCompleted', /missing/],
  ...[0, 3, 1.5, '0', '3', '-1'].map((numCompleted): readonly [string, Parts, string, RegExp] =>
    [`numCompleted ${JSON.stringify(numCompleted)} of 2 branches`, parallel({ completionType: 'atLeast', numCompleted }), '/states/0/numCompleted', /from 1 to 2/]),
  ['a branch that calls its own workflow (S063)', parallel({ branches: [{ name: 'a', actions: [{ subFlowRef: 'test' }] }] }), '/states/0/branches/0/actions/0/subFlowRef', /own workflow/],
  ['a batch size of 0 (A26)', foreach({ batchSize: 0 }), '/states/0/batchSize', /from 1/],
  ['an iteration parameter that is no name (S078)', foreach({ iterationParam: '.a + .b' }), '/states/0/iterationParam', /no name/],
  ['a workflow timeout in a state (S231)', { states: [injectState('A', { end: true, timeouts: { workflowExecTimeout: 'PT1S' } })] }, '/states/0/timeouts/workflowExecTimeout', /top-level/],
  ['a state timeout without total (S232)', { timeouts: { stateExecTimeout: { single: 'PT1S' } } }, '/timeouts/stateExecTimeout', /total is missing/],
  ['an unknown runBefore', timeout({ runBefore: 'X' }, [injectState('Start')]), '/timeouts/workflowExecTimeout/runBefore', /state X is not defined/],
  ['runBefore in the flow (S230)', timeout({ runBefore: 'B' }, [injectState('Start', { transition: 'B' }), injectState('B')]), '/timeouts/workflowExecTimeout/runBefore', /incoming/],
  ['runBefore that leads into the flow (S230)', timeout({ runBefore: 'B' }, [injectState('Start', { transition: 'C' }), injectState('B', { transition: 'C' }), injectState('C')]), '/timeouts/workflowExecTimeout/runBefore', /main flow/],
  ['an unknown compensation state (S239)', { states: [injectState('A', { end: true, compensatedBy: 'U' })] }, '/states/0/compensatedBy', /state U is not defined/],
  ['compensation by an ordinary state (S240)', { states: [injectState('A', { transition: 'U', compensatedBy: 'U' }), injectState('U')] }, '/states/0/compensatedBy', /usedForCompensation/],
  ['a transition to a compensation state (S240)', { states: [injectState('A', { transition: 'U', compensatedBy: 'U' }), injectState('U', { usedForCompensation: true })] }, '/states/0/transition', /no incoming/],
  ['compensation that leads out (S240)', { states: [injectState('A', { end: true, compensatedBy: 'U' }), injectState('U', { usedForCompensation: true, transition: 'A' })] }, '/states/1/transition', /which is none/],
  ['compensation of compensation (S240)', { states: [injectState('A', { end: true, compensatedBy: 'U' }), injectState('U', { usedForCompensation: true, compensatedBy: 'U' })] }, '/states/1/compensatedBy', /itself/],
  ['an event state that compensates (S027)', { events: EVENTS, states: [{ name: 'E', type: 'event', onEvents: [{ eventRefs: ['in'] }], usedForCompensation: true, end: true }] }, '/states/0/usedForCompensation', /cannot compensate/],
  ['a schedule that does not repeat (S256)', start('2020-01-01T00:00:00Z/2020-02-01T00:00:00Z'), '/start/schedule', /repeating interval/],
  ['a repeat count (S256)', start('R5/PT1H'), '/start/schedule', /repeating interval/],
  ['interval and cron (S255)', start({ interval: 'R/PT1H', cron: '* * * * *' }), '/start/schedule', /exclude/],
  ['neither interval nor cron (S255)', start({ timezone: 'UTC' }), '/start/schedule', /neither/],
  ['a cron of three fields (S260)', start({ cron: '* * *' }), '/start/schedule/cron', /five fields/],
  ['an end of validity that is no date (S261)', start({ cron: { expression: '* * * * *', validUntil: 'x' } }), '/start/schedule/cron/validUntil', /date-time/],
  ['an unknown time zone (S262)', start({ interval: 'R/PT1H', timezone: 'Mars/Olympus' }), '/start/schedule/timezone', /tz database/],
  ['an undeclared secret (A21)', { secrets: ['TOKEN'], states: [injectState('A', { end: true, data: { a: '${ $SECRETS.TOKN }' } })] }, '/states/0/data/a', /TOKN is not declared.*"TOKEN"/],
  ['data to inject that is no object (S070)', { states: [injectState('A', { data: 'x', end: true })] }, '/states/0/data', /no object/],
  ['a data schema that is none', { dataInputSchema: { schema: { type: 'objekt' }, failOnValidationErrors: true } }, '/dataInputSchema', /no valid JSON Schema/],
]

describe('definition/validate', () => {
  for (const [title, parts, pointer, expected] of FAULTS) {
    it(`refuses ${title}`, () => {
      const violations = validate(workflow(parts))
      const found = violations.filter((violation) => violation.pointer === pointer)
      expect(found.map(({ message, hint }) => `${message} — ${hint ?? ''}`).join('\n'), JSON.stringify(violations)).to.match(expected)
      for (const { hint } of violations) expect(hint, 'a cure').to.be.a('string')
    })
  }

  it('refuses a document without id, and one that is no object', () => {
    const { id: _id, ...rest } = workflow()
    expect(validate(rest).map(({ pointer }) => pointer)).to.deep.equal(['/id'])
    for (const document of [null, [], 1, 'x', undefined]) expect(validate(document)).to.have.length(1)
  })

  it('tells all faults at once, with the name of the state', () => {
    const document = workflow({ start: 'X', functions: FUNCTIONS, states: [operationState('A', [{ functionRef: 'g' }], { transition: 'B' })] })
    const violations = validate(document)
    expect(violations).to.have.length(3)
    expect(violations.filter(({ message }) => message.startsWith('state A: '))).to.have.length(2)
  })

  it('tells at most a hundred', () => {
    const states = Array.from({ length: 300 }, (_, index) => injectState(`S${String(index)}`, {}))
    expect(validate(workflow({ states }))).to.have.length(100)
  })

  const ACCEPTED: readonly (readonly [string, Parts])[] = [
    ['a key in place of the id (S002)', { id: 'x' }],
    ['additional properties of the workflow (S014)', { loglevel: 'debug' }],
    ['empty lists (S016)', { functions: [], events: [], errors: [], retries: [], auth: [], secrets: [] }],
    ['no specVersion (S006)', {}],
    ['sleep before and after (S110)', action({ functionRef: 'f', sleep: { before: 'PT1S', after: 'PT1S' } })],
    ['multipliers of any precision (S215)', retry({ multiplier: 2.3 })],
    ['no retry at all (S213)', retry({ maxAttempts: 0 })],
    ['context attributes as a list (S142)', { events: EVENTS, states: [injectState('A', { end: { produceEvents: [{ eventRef: 'out', contextAttributes: [{ a: 'b' }] }] } })] }],
    ['the error * without a definition (A10)', { states: [{ name: 'S', type: 'sleep', duration: 'PT1S', onErrors: [{ errorRef: '*', end: true }], end: true }] }],
    ['a duration of the malformed kind (A16)', { states: [{ name: 'S', type: 'sleep', duration: 'PT30D', end: true }] }],
    ['a duration of a constant', { constants: { wait: { short: 'PT1S' } }, states: [{ name: 'S', type: 'sleep', duration: '$CONST.wait.short', end: true }] }],
    ['a compensation state without transition and end (S042)', { states: [injectState('A', { end: true, compensatedBy: 'U' }), injectState('U', { usedForCompensation: true })] }],
    ['numCompleted as an expression', parallel({ completionType: 'atLeast', numCompleted: '.n' })],
    ['numCompleted beyond the branches under allOf', parallel({ completionType: 'allOf', numCompleted: 9 })],
    ['every form of interval (S256)', start('R/2020-01-01T00:00:00Z/PT1H')],
    ['an interval to an end (S257)', start('R/PT1H/2030-01-01T00:00:00Z')],
    ['a cron of six fields (S260)', start({ cron: '0 0/15 * * * ?', timezone: 'Europe/Prague' })],
    ['loops (S280)', { states: [injectState('A', { transition: 'A' })] }],
    ['a declared secret', { secrets: ['TOKEN'], states: [injectState('A', { end: true, data: { a: '${ $SECRETS.TOKEN }', b: '${ $SECRET["TOKEN"] }' } })] }],
    ['auth by one secret (S285)', auth({ properties: '${ $SECRETS.x }' })],
  ]
  for (const [title, parts] of ACCEPTED) {
    it(`accepts ${title}`, () => {
      const secrets = title.startsWith('auth') ? { secrets: ['x'] } : {}
      const { specVersion, ...document } = workflow({ ...parts, ...secrets })
      expect(validate(title.startsWith('no specVersion') ? document : { specVersion: specVersion ?? '0.8', ...document })).to.deep.equal([])
    })
  }

  describe('in the profile sonataflow', () => {
    const lenient: readonly (readonly [string, Parts])[] = [
      ['a consumed event without source (S132)', { events: [{ name: 'e', type: 't' }] }],
      ['eventRef without result (S103)', action({ eventRef: { triggerEventRef: 'out' } }, { events: EVENTS })],
      ['the old place of the event timeout (S050)', choice({ dataConditions: [{ condition: '.a', end: true }], eventTimeout: 'PT1S' })],
      ['data to inject of any kind', { states: [injectState('A', { data: 'x', end: true })] }],
      ['any secret (S180)', { states: [injectState('A', { end: true, data: { a: '$SECRET.some.key' } })] }],
    ]
    for (const [title, parts] of lenient) {
      it(`accepts ${title}`, () => {
        expect(validate(workflow(parts), { profile: 'sonataflow' })).to.deep.equal([])
        expect(validate(workflow({ ...parts, metadata: { profile: 'sonataflow' } }))).to.deep.equal([])
        expect(validate(workflow(parts), { profile: 'spec' })).to.not.be.empty
      })
    }

    it('refuses a state that nothing leads to', () => {
      const document = workflow({ states: [injectState('A'), injectState('B')] })
      expect(validate(document, { profile: 'sonataflow' })[0]).to.include({ pointer: '/states/1' })
      expect(validate(document, { profile: 'spec' })).to.deep.equal([])
    })
  })
})
