import { expect } from 'chai'
import type { Json } from '../../../lib/common/index.ts'
import type { CloudEventRecord } from '../../../lib/events/index.ts'
import type { HistoryStep, InstanceRecord } from '../../../lib/hosts/index.ts'
import { createLifecycle, type Lifecycle } from '../../../lib/messaging/index.ts'
import { createVirtualClock, type VirtualClock } from '../../support/clock.ts'

const SUBJECT = { id: 'i1', workflowId: 'orders', version: '1.2' }
const START = Date.UTC(2026, 0, 1)

describe('messaging/lifecycle', () => {
  let clock: VirtualClock
  let events: CloudEventRecord[]
  let lifecycle: Lifecycle

  beforeEach(() => {
    clock = createVirtualClock(START)
    events = []
    let id = 0
    lifecycle = createLifecycle({ clock, ids: { next: () => `e${String(++id)}`, random: () => 0 }, send: (event) => { events.push(event) } })
  })

  const step = (type: HistoryStep['type'], rest: Partial<HistoryStep> = {}): HistoryStep => ({ sequence: 0, at: START + 5, type, ...rest })
  const rest = (data: Json, more: Partial<InstanceRecord> = {}): void => {
    lifecycle.data({ id: 'i1', workflowId: 'orders', version: '1.2', status: 'active', data, startedAt: START, ...more }, SUBJECT)
  }
  const variables = (): Json[] => events.splice(0).map(({ data }) => {
    const { variableName, variableValue } = data as { variableName: string; variableValue: Json }
    return [variableName, variableValue]
  })

  it('tells states of the instance in the numbers of Kogito', () => {
    clock.advance(7)
    for (const type of ['started', 'completed', 'aborted', 'failed'] as const) lifecycle.step(step(type), SUBJECT)
    expect(events.map(({ type, data }) => [type, (data as Record<string, Json>)['state'], (data as Record<string, Json>)['eventType']])).to.deep.equal([
      ['ProcessInstanceStateDataEvent', 1, 1], ['ProcessInstanceStateDataEvent', 2, 2], ['ProcessInstanceStateDataEvent', 3, 2], ['ProcessInstanceStateDataEvent', 5, 3],
    ])
    expect(events[0]).to.deep.equal({
      specversion: '1.0',
      id: 'e1',
      source: '/orders',
      type: 'ProcessInstanceStateDataEvent',
      time: '2026-01-01T00:00:00.007Z',
      datacontenttype: 'application/json',
      kogitoprocid: 'orders',
      kogitoprocinstanceid: 'i1',
      kogitoprocversion: '1.2',
      kogitoproctype: 'SW',
      data: { processId: 'orders', processInstanceId: 'i1', processVersion: '1.2', eventDate: '2026-01-01T00:00:00.005Z', eventType: 1, state: 1, processType: 'SW' },
    })
  })

  it('tells the states of the definition that are entered, and no other step', () => {
    for (const type of ['stateEntered', 'stateLeft', 'actionStarted'] as const) lifecycle.step(step(type as HistoryStep['type'], { state: 'Check' }), SUBJECT)
    expect(events.map(({ type, data }) => [type, (data as Record<string, Json>)['nodeName']])).to.deep.equal([['ProcessInstanceNodeDataEvent', 'Check']])
  })

  it('says who called, when that is known', () => {
    lifecycle.step(step('started'), { ...SUBJECT, identity: 'alice' })
    expect(events[0]).to.include({ kogitoidentity: 'alice' })
  })

  it('tells the data as a whole and each member, then what has changed', () => {
    rest({ a: 1, b: { c: 2 } })
    expect(variables()).to.deep.equal([['workflowdata', { a: 1, b: { c: 2 } }], ['workflowdata.a', 1], ['workflowdata.b', { c: 2 }]])
    rest({ a: 1, b: { c: 2 } })
    expect(variables()).to.deep.equal([])
    rest({ a: 1, b: { c: 3 }, d: null })
    expect(variables()).to.deep.equal([['workflowdata', { a: 1, b: { c: 3 }, d: null }], ['workflowdata.b', { c: 3 }], ['workflowdata.d', null]])
  })

  it('tells data that is no object as a whole', () => {
    rest([1, 2])
    expect(variables()).to.deep.equal([['workflowdata', [1, 2]]])
    rest({ constructor: 1 })
    expect(variables()).to.deep.equal([['workflowdata', { constructor: 1 }], ['workflowdata.constructor', 1]])
  })

  it('forgets an instance that has ended', () => {
    rest({ a: 1 })
    rest({ a: 1 }, { endedAt: START })
    events.splice(0)
    rest({ a: 1 })
    expect(variables()).to.have.length(2)
  })
})
