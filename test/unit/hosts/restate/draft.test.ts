import { expect } from 'chai'
import { Draft } from '../../../../lib/hosts/restate/draft.ts'
import { assertKnownForm, newLife, recordOfLife, type Life } from '../../../../lib/hosts/restate/life.ts'

const FACTS = { id: 'i', workflowId: 'w', version: '1', input: null, startedAt: 0, headers: {} }
const life = (more: Partial<Life> = {}): Omit<Life, 'record'> => ({ ...newLife(FACTS, 'hash'), ...more })

describe('hosts/restate: lives', () => {
  it('leave the stored one as it is while they change', () => {
    const stored = life({ timers: { a: 1 } })
    const draft = new Draft(stored)
    draft.timers['b'] = 2
    draft.next()
    expect(stored.timers).to.deep.equal({ a: 1 })
    expect(draft.counter).to.equal(1)
  })

  it('know an event by source and id, until that has been long enough', () => {
    const event = { specversion: '1.0' as const, id: '1', source: 's', type: 't' }
    const draft = new Draft(life())
    expect(draft.isNew(event, 10)).to.equal(true)
    expect(draft.isNew({ ...event, type: 'other' }, 11)).to.equal(false)
    draft.prune(new Map(), 10)
    expect(draft.isNew(event, 12)).to.equal(false)
    draft.prune(new Map(), 11)
    expect(draft.isNew(event, 13)).to.equal(true)
  })

  it('forget what belongs to effects that are not pending', () => {
    const draft = new Draft(life({ timers: { a: 1, b: 2 }, calls: { c: 1 }, awaits: { b: 'type' } }))
    draft.prune(new Map([['b', {}]]), 0)
    expect([draft.timers, draft.calls, draft.awaits]).to.deep.equal([{ b: 2 }, {}, { b: 'type' }])
  })

  it('take their data from the state while they live, from the record when they have ended', () => {
    const record = { id: 'i', workflowId: 'w', version: '1', status: 'waiting' as const, startedAt: 0 }
    const state = { snapshot: { context: { data: { n: 1 } } }, sequence: 0 } as unknown as NonNullable<Life['state']>
    expect(recordOfLife({ ...life(), record, state }).data).to.deep.equal({ n: 1 })
    expect(recordOfLife({ ...life(), record: { ...record, data: [2] } }).data).to.deep.equal([2])
  })

  it('are refused when a newer release wrote them', () => {
    const record = { id: 'i', workflowId: 'w', version: '1', status: 'waiting' as const, startedAt: 0 }
    expect(() => { assertKnownForm({ ...life({ form: 99 }), record }) }).to.throw(/state of form 99/).with.property('code', 'SNAPSHOT_INCOMPATIBLE')
    expect(() => { assertKnownForm({ ...life(), record }) }).not.to.throw()
  })
})
