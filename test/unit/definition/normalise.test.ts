import { expect } from 'chai'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import { normalise, type Action, type NormaliseOptions, type State } from '../../../lib/definition/index.ts'
import { DefinitionError } from '../../../lib/errors/index.ts'
import { FUNCTIONS, injectState, operationState, workflow } from './support/documents.ts'

function stateOf(state: JsonObject, parts: Readonly<Record<string, Json>> = {}, options: NormaliseOptions = {}): State {
  return normalise(workflow({ functions: FUNCTIONS, ...parts, states: [state, ...(parts['states'] as readonly Json[] | undefined ?? [])] }), options).states[0]!
}

function actionOf(action: JsonObject, parts: Readonly<Record<string, Json>> = {}): Action {
  const state = stateOf(operationState('A', [action]), parts)
  return state.type === 'operation' ? state.actions[0]! : expect.fail('not an operation state')
}

describe('definition/normalise', () => {
  it('fills in what a definition leaves out', () => {
    const definition = normalise({ id: ' hello ', states: [injectState('A')] })
    expect(definition).to.deep.include({
      id: 'hello', version: '1.0', specVersion: '0.8', expressionLang: 'jq', profile: 'spec', start: { stateName: 'A' },
      constants: {}, secrets: [], annotations: [], keepActive: false, autoRetries: false, functions: [], timeouts: {}, metadata: {},
    })
    expect(definition).to.not.have.any.keys('key', 'name', 'description', 'dataInputSchema')
  })

  it('takes the key where there is no id (S002)', () => {
    expect(normalise({ key: 'k', states: [injectState('A')] })).to.include({ id: 'k', key: 'k' })
  })

  it('takes the profile of the definition before that of the settings', () => {
    expect(normalise(workflow({ metadata: { profile: 'spec' } }), { profile: 'sonataflow' }).profile).to.equal('spec')
    expect(normalise(workflow(), { profile: 'sonataflow' }).profile).to.equal('sonataflow')
  })

  it('reads booleans and numbers in text', () => {
    const state = stateOf(injectState('A', { end: { terminate: 'true', compensate: 'false' } }), { keepActive: 'true' })
    expect(state).to.have.deep.property('end', { terminate: true, compensate: false, produceEvents: [] })
    expect(stateOf(injectState('A', { end: 'true' }))).to.have.deep.property('end', { terminate: false, compensate: false, produceEvents: [] })
  })

  it('writes out transitions, trims names, and keeps expressions as they are', () => {
    const state = stateOf(injectState('A', { transition: ' A ', stateDataFilter: { output: ' ${ .a } ' } }))
    expect(state).to.have.deep.property('transition', { nextState: 'A', compensate: false, produceEvents: [] })
    expect(state.stateDataFilter).to.deep.equal({ output: ' ${ .a } ' })
  })

  it('makes continueAs terminate (S274)', () => {
    const { end } = stateOf(injectState('A', { end: { continueAs: 'other', terminate: false } })) as { end?: unknown }
    expect(end).to.deep.equal({ terminate: true, compensate: false, produceEvents: [], continueAs: { workflowId: 'other' } })
  })

  it('writes out the short forms of an action', () => {
    expect(actionOf({ functionRef: 'f' }).functionRef).to.deep.equal({ refName: 'f', invoke: 'sync' })
    expect(actionOf({ subFlowRef: 'x' }).subFlowRef).to.deep.equal({ workflowId: 'x', invoke: 'sync', onParentComplete: 'terminate' })
    expect(actionOf({ functionRef: 'f' })).to.deep.include({ sleep: {}, retryableErrors: [], nonRetryableErrors: [], actionDataFilter: { useResults: true } })
    expect(actionOf({ functionRef: 'f' })).to.not.have.property('name')
    expect(actionOf({ functionRef: { refName: 'f', arguments: ['.a'] } }).functionRef?.arguments).to.deep.equal(['.a'])
    expect(actionOf({ functionRef: { refName: 'f', arguments: '.a' } }).functionRef?.arguments).to.equal('.a')
    expect(actionOf({ functionRef: 'f', sleep: { before: 'PT1S', after: 'PT2M' } }).sleep).to.deep.equal({ before: 1000, after: 120_000 })
  })

  it('makes one object of listed context attributes (S142)', () => {
    const events: Json = [{ name: 'e', type: 't', kind: 'produced' }]
    const state = stateOf(injectState('A', { end: { produceEvents: [{ eventRef: 'e', contextAttributes: [{ a: '1' }, { b: '2' }] }] } }), { events })
    expect(state).to.have.deep.nested.property('end.produceEvents[0].contextAttributes', { a: '1', b: '2' })
  })

  it('joins errorRef and errorRefs', () => {
    const handler = (refs: JsonObject): JsonObject => ({ name: 'S', type: 'sleep', duration: 'PT1S', onErrors: [{ ...refs, end: true }], end: true })
    const errors: Json = [{ name: 'a' }, { name: 'b', code: '404' }]
    expect(stateOf(handler({ errorRef: 'a' }), { errors }).onErrors[0]?.errorRefs).to.deep.equal(['a'])
    expect(stateOf(handler({ errorRefs: ['a', 'b'] }), { errors }).onErrors[0]?.errorRefs).to.deep.equal(['a', 'b'])
  })

  it('names branches that have no name, and reads their number', () => {
    const state = stateOf({ name: 'P', type: 'parallel', completionType: 'atLeast', numCompleted: ' 2 ', branches: [{ actions: [] }, { name: 'b' }], end: true })
    expect(state).to.deep.include({ numCompleted: 2, completionType: 'atLeast', branchData: 'shared' })
    expect(state.type === 'parallel' && state.branches.map(({ name }) => name)).to.deep.equal(['branch-1', 'b'])
    const dynamic = stateOf({ name: 'P', type: 'parallel', completionType: 'atLeast', numCompleted: '.n', branches: [], end: true })
    expect(dynamic).to.include({ numCompleted: '.n' })
  })

  it('takes branch data from the state, else from the settings (A19)', () => {
    const parallel = (metadata: JsonObject): JsonObject => ({ name: 'P', type: 'parallel', branches: [], metadata, end: true })
    expect(stateOf(parallel({}), {}, { branchData: 'isolated' })).to.include({ branchData: 'isolated' })
    expect(stateOf(parallel({ branchData: 'shared' }), {}, { branchData: 'isolated' })).to.include({ branchData: 'shared' })
  })

  for (const [written, name] of [['${ .tx }', 'tx'], ['.tx', 'tx'], ['$tx', 'tx'], ['tx', 'tx'], [undefined, 'item']] as const) {
    it(`reads the iteration parameter ${String(written)} as ${name} (S078, S086)`, () => {
      const state = stateOf({ name: 'E', type: 'foreach', inputCollection: '.list', actions: [], end: true, ...(written === undefined ? {} : { iterationParam: written }) })
      expect(state).to.include({ iterationParam: name, mode: 'parallel' })
    })
  }

  it('lets states and branches inherit timeouts (S224, S225)', () => {
    const timeouts = { stateExecTimeout: 'PT1H', actionExecTimeout: 'PT1M', branchExecTimeout: 'PT2M', eventTimeout: 'PT3M' }
    const branches: Json = [{ name: 'a', actions: [], timeouts: { branchExecTimeout: 'PT1S' } }, { name: 'b', actions: [] }]
    const state = stateOf({ name: 'P', type: 'parallel', branches, timeouts: { branchExecTimeout: 'PT9S', stateExecTimeout: { total: 'PT8S', single: 'PT7S' } }, end: true }, { timeouts })
    expect(state.timeouts).to.deep.equal({ stateExecTimeout: { total: 8000, single: 7000 }, branchExecTimeout: 9000 })
    expect(state.type === 'parallel' && state.branches.map((branch) => branch.timeouts)).to.deep.equal([
      { actionExecTimeout: 60_000, branchExecTimeout: 1000 }, { actionExecTimeout: 60_000, branchExecTimeout: 9000 },
    ])
    expect(stateOf(injectState('A'), { timeouts }).timeouts).to.deep.equal({ stateExecTimeout: { total: 3_600_000 } })
    const events: Json = [{ name: 'e', type: 't', source: 's' }]
    const dataSwitch = { name: 'W', type: 'switch', dataConditions: [{ condition: '.a', end: true }], defaultCondition: { end: true } }
    expect(stateOf(dataSwitch, { timeouts }).timeouts).to.not.have.property('eventTimeout')
    const eventSwitch = { name: 'W', type: 'switch', eventConditions: [{ eventRef: 'e', end: true }], defaultCondition: { end: true } }
    expect(stateOf(eventSwitch, { timeouts, events }).timeouts.eventTimeout).to.equal(180_000)
  })

  it('takes the old place of the event timeout in the profile sonataflow (S050)', () => {
    const events: Json = [{ name: 'e', type: 't', source: 's' }]
    const state = { name: 'W', type: 'switch', eventConditions: [{ eventRef: 'e', end: true }], eventTimeout: 'PT1H', defaultCondition: { end: true } }
    expect(stateOf(state, { events }, { profile: 'sonataflow' }).timeouts.eventTimeout).to.equal(3_600_000)
  })

  for (const [written, milliseconds] of [['PT1.5S', 1500], ['P1D', 86_400_000], ['PT30D', 2_592_000_000], ['1s', 1000], ['500ms', 500], ['2h', 7_200_000], ['$CONST.wait', 5000], ['${ $CONST.deep.wait }', 7000]] as const) {
    it(`reads the duration ${written}`, () => {
      const constants = { wait: 'PT5S', deep: { wait: '7s' } }
      expect(stateOf({ name: 'S', type: 'sleep', duration: written, end: true }, { constants })).to.include({ duration: milliseconds })
    })
  }

  it('writes out retries (S211–S217)', () => {
    const retries: Json = [
      { name: 'a' }, { name: 'b', delay: 'PT2S', maxDelay: 'PT1M', increment: 'PT1S', multiplier: '1.5', maxAttempts: '3', jitter: 0.2 },
      { name: 'c', maxAttempts: 0, jitter: 'PT1S' }, { name: 'd', maxAttempts: 1, jitter: '0.3' },
    ]
    expect(normalise(workflow({ retries })).retries).to.deep.equal([
      { name: 'a', delay: 0, increment: 0, multiplier: 1 },
      { name: 'b', delay: 2000, maxDelay: 60_000, increment: 1000, multiplier: 1.5, maxAttempts: 3, jitter: { share: 0.2 } },
      { name: 'c', delay: 0, increment: 0, multiplier: 1, maxAttempts: 0, jitter: { absolute: 1000 } },
      { name: 'd', delay: 0, increment: 0, multiplier: 1, maxAttempts: 1, jitter: { share: 0.3 } },
    ])
  })

  it('writes out the workflow timeout; interrupt depends on the profile (S228)', () => {
    const timeouts = { workflowExecTimeout: 'PT1H' }
    expect(normalise(workflow({ timeouts })).timeouts).to.deep.equal({ workflowExecTimeout: { duration: 3_600_000, interrupt: false } })
    expect(normalise(workflow({ timeouts }), { profile: 'sonataflow' }).timeouts.workflowExecTimeout?.interrupt).to.equal(true)
  })

  it('writes out schedules (S255–S262)', () => {
    const startOf = (schedule: Json): unknown => normalise(workflow({ start: { stateName: 'Start', schedule } })).start
    expect(startOf('R/PT1H')).to.deep.equal({ stateName: 'Start', schedule: { interval: 'R/PT1H', timezone: 'UTC' } })
    expect(startOf({ cron: '* * * * *', timezone: 'Europe/Prague' })).to.deep.equal({ stateName: 'Start', schedule: { cron: { expression: '* * * * *' }, timezone: 'Europe/Prague' } })
  })

  it('writes out functions, events, errors and auth', () => {
    const definition = normalise(workflow({
      functions: [{ name: 'f', operation: 'a.yaml#b' }],
      events: [{ name: 'e', type: 't', source: 's', correlation: [{ contextAttributeName: 'id' }] }],
      errors: [{ code: 'HTTP:404' }],
      auth: [{ name: 'a', properties: { username: 'u', password: 'p' } }],
    }))
    expect(definition.functions).to.deep.equal([{ name: 'f', type: 'rest', operation: 'a.yaml#b', metadata: {} }])
    expect(definition.events).to.deep.equal([{ name: 'e', type: 't', source: 's', kind: 'consumed', dataOnly: true, correlation: [{ contextAttributeName: 'id' }], metadata: {} }])
    expect(definition.errors).to.deep.equal([{ name: 'HTTP:404', code: 'HTTP:404' }])
    expect(definition.auth[0]?.scheme).to.equal('basic')
  })

  it('refuses a faulty document', () => {
    expect(() => normalise({ id: 'x' })).to.throw(DefinitionError, 'states is missing')
    expect(() => normalise(undefined)).to.throw(DefinitionError)
  })

  it('changes nothing in the document', () => {
    const document = workflow({ functions: FUNCTIONS, states: [operationState('A', [{ functionRef: 'f' }])] })
    const before = structuredClone(document)
    normalise(document)
    expect(document).to.deep.equal(before)
  })
})
