import { expect } from 'chai'
import { Cancellation, toAbortSignal } from '../../../lib/common/index.ts'

describe('common/cancellation', () => {
  it('tells its listeners once, in their order, and none that was taken away or came late', () => {
    const cancellation = new Cancellation()
    const told: string[] = []
    const removed = (): void => { told.push('removed') }
    cancellation.addEventListener('abort', () => { told.push('first') })
    cancellation.addEventListener('abort', removed)
    cancellation.addEventListener('abort', () => { told.push('second') })
    cancellation.removeEventListener('abort', removed)
    cancellation.abort('enough')
    cancellation.abort('again')
    cancellation.addEventListener('abort', () => { told.push('late') })
    expect(told).to.deep.equal(['first', 'second'])
    expect([cancellation.aborted, cancellation.reason]).to.deep.equal([true, 'enough'])
  })

  it('is an AbortSignal for others, whether it is asked for before or after', () => {
    const before = new Cancellation()
    const signal = toAbortSignal(before)
    expect(signal).to.be.instanceOf(AbortSignal)
    expect(signal.aborted).to.equal(false)
    before.abort('enough')
    expect([signal.aborted, signal.reason]).to.deep.equal([true, 'enough'])

    const after = new Cancellation()
    after.abort()
    expect(after.signal.aborted).to.equal(true)
    expect(after.signal.reason).to.be.instanceOf(DOMException).with.property('name', 'AbortError')
    expect(after.signal).to.equal(after.signal)
  })

  it('leaves an AbortSignal as it is', () => {
    const { signal } = new AbortController()
    expect(toAbortSignal(signal)).to.equal(signal)
  })
})
