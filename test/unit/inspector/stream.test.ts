import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect } from 'chai'
import { createRecorder } from '../../../lib/inspector/recorder.ts'
import { createEventStream } from '../../../lib/inspector/stream.ts'
import { createVirtualClock } from '../../support/clock.ts'

/** A response that never reads once it is full. */
class Slow extends EventEmitter {
  readonly texts: string[] = []
  writableLength = 0
  write(text: string): boolean { this.texts.push(text); this.writableLength += text.length; return true }
  end(): void { this.emit('close') }
}

const asResponse = (slow: Slow): ServerResponse => slow as unknown as ServerResponse
const facts = { id: 'a', workflowId: 'w', version: '1', startedAt: 0 }

describe('inspector: event stream', () => {
  it('drops for a reader that does not read, tells it how many, and holds nobody else up', () => {
    const recorder = createRecorder({ records: 10, instances: 10 })
    const stream = createEventStream(recorder, createVirtualClock(), { buffered: 500 })
    const [slow, fast] = [new Slow(), new Slow()]
    stream.open(asResponse(slow), undefined)
    stream.open(asResponse(fast), undefined)
    for (let sequence = 0; sequence < 50; sequence += 1) {
      recorder.step({ sequence, at: 0, type: 'stateEntered' }, facts)
      fast.writableLength = 0
    }
    expect(fast.texts.filter((text) => text.includes('event: step'))).to.have.length(50)
    expect(slow.writableLength).to.be.lessThan(900)
    slow.writableLength = 0
    recorder.step({ sequence: 50, at: 0, type: 'stateEntered' }, facts)
    expect(slow.texts.join('')).to.match(/event: dropped\ndata: \{"count":4\d\}/u)
    stream.close()
  })

  it('takes so many readers and no more, and leaves no timer behind', () => {
    const clock = createVirtualClock()
    const stream = createEventStream(createRecorder({ records: 10, instances: 10 }), clock, { readers: 2 })
    expect([1, 2, 3].map(() => stream.open(asResponse(new Slow()), undefined))).to.deep.equal([true, true, false])
    expect(clock.pending).to.equal(1)
    stream.close()
    expect([stream.readers, clock.pending]).to.deep.equal([0, 0])
  })

  it('writes no workflow data', () => {
    const recorder = createRecorder({ records: 10, instances: 10 })
    const stream = createEventStream(recorder, createVirtualClock())
    const reader = new Slow()
    stream.open(asResponse(reader), undefined)
    recorder.step({ sequence: 0, at: 0, type: 'started', data: { mine: 'private' }, detail: { note: 'private' } }, facts)
    expect(reader.texts.join('')).to.contain('"started"').and.not.contain('private')
    stream.close()
  })
})
