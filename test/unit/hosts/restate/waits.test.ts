import { expect } from 'chai'
import type { CloudEventRecord } from '../../../../lib/events/index.ts'
import type { IndexedWait } from '../../../../lib/hosts/restate/messages.ts'
import { choose } from '../../../../lib/hosts/restate/waits.ts'

const wait = (instanceId: string, more: Partial<IndexedWait> = {}): IndexedWait => ({
  instanceId, type: 't', key: '["t"]', definition: { name: 'E', type: 't', source: 's', correlation: [] }, known: {}, byTypeOnly: false, workflowId: 'w', atStart: false, ...more,
})
const correlated = { name: 'E', type: 't', source: 's', correlation: [{ contextAttributeName: 'order' }] }
const event = (more: Partial<CloudEventRecord> = {}): CloudEventRecord => ({ specversion: '1.0', id: '1', source: 's', type: 't', ...more })
const idsOf = (waits: readonly IndexedWait[], given: CloudEventRecord): readonly string[] => choose(waits, given).instances.map(({ id }) => id)

describe('hosts/restate: choice of those that wait', () => {
  it('takes all that fit where nothing correlates', () => {
    expect(idsOf([wait('a'), wait('b'), wait('b')], event())).to.deep.equal(['a', 'b'])
    expect(idsOf([wait('a')], event({ source: 'other' }))).to.deep.equal([])
    expect(idsOf([wait('a', { byTypeOnly: true })], event({ source: 'other' }))).to.deep.equal(['a'])
  })

  it('prefers those that correlate, and leaves others out', () => {
    const waits = [wait('a'), wait('b', { definition: correlated, known: { order: '1' } }), wait('c', { definition: correlated, known: { order: '2' } })]
    const chosen = choose(waits, event({ order: '1' }))
    expect(chosen.instances).to.deep.equal([{ id: 'b', correlated: true }])
    expect(chosen.mayStart(0)).to.equal(false)
  })

  it('goes to the instance or the business key that the event names', () => {
    const waits = [wait('a', { businessKey: 'k' }), wait('b')]
    expect(idsOf(waits, event({ kogitoprocrefid: 'b' }))).to.deep.equal(['b'])
    expect(idsOf(waits, event({ kogitobusinesskey: 'k' }))).to.deep.equal(['a'])
    expect(choose(waits, event({ kogitoprocrefid: 'b' })).mayStart(0)).to.equal(false)
    expect([0, 1].map((taken) => choose(waits, event({ kogitobusinesskey: 'k' })).mayStart(taken))).to.deep.equal([true, false])
  })

  it('tells which definitions take the event where they begin', () => {
    expect(choose([wait('a', { atStart: true })], event()).atStart).to.deep.equal(['w'])
    expect(choose([wait('a')], event()).mayStart(1)).to.equal(true)
  })
})
