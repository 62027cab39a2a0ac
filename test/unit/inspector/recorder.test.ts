import { expect } from 'chai'
import type { HistoryStep } from '../../../lib/hosts/index.ts'
import { createRecorder, type InstanceIdentity, type Recorder } from '../../../lib/inspector/recorder.ts'

const facts = (id: string): InstanceIdentity => ({ id, workflowId: 'w', version: '1', startedAt: 0 })
const step = (sequence: number, type: HistoryStep['type'] = 'stateEntered', more: Partial<HistoryStep> = {}): HistoryStep => ({ sequence, at: sequence, type, ...more })
const ids = (recorder: Recorder): string[] => [...recorder.recordings()].map(({ id }) => id)

describe('inspector: recorder', () => {
  it('keeps the first step and the newest, and counts what it dropped', () => {
    const recorder = createRecorder({ records: 4, instances: 2 })
    recorder.step(step(0, 'started'), facts('a'))
    for (let index = 1; index <= 8; index += 1) recorder.step(step(index), facts('a'))
    const recording = recorder.find('a')
    expect(recording?.steps.map(({ sequence }) => sequence)).to.deep.equal([0, 6, 7, 8])
    expect(recording?.dropped).to.equal(5)
  })

  it('forgets the instance that has not moved for longest', () => {
    const recorder = createRecorder({ records: 10, instances: 2 })
    for (const id of ['a', 'b', 'a', 'c']) recorder.step(step(0), facts(id))
    expect(ids(recorder)).to.deep.equal(['a', 'c'])
  })

  it('counts instances by status, forgotten ones too', () => {
    const recorder = createRecorder({ records: 10, instances: 1 })
    for (const [id, type] of [['a', 'completed'], ['b', 'failed'], ['c', 'stateEntered']] as const) recorder.step(step(0, type), facts(id))
    recorder.rest({ id: 'c', workflowId: 'w', version: '1', status: 'waiting', data: null, startedAt: 0 })
    expect(recorder.counts('w')).to.deep.equal({ active: 0, completed: 1, error: 1, waiting: 1 })
  })

  it('holds references: data is not copied, and its size costs nothing', () => {
    const recorder = createRecorder({ records: 10, instances: 1 })
    const data = { large: 'x'.repeat(30_000) }
    recorder.step(step(0, 'started', { data }), facts('a'))
    expect(recorder.find('a')?.steps[0]?.data).to.equal(data)
  })

  it('tells readers until they leave', () => {
    const recorder = createRecorder({ records: 10, instances: 1 })
    const seen: string[] = []
    const leave = recorder.subscribe(({ kind }) => seen.push(kind))
    recorder.step(step(0), facts('a'))
    leave()
    recorder.step(step(1), facts('a'))
    expect(seen).to.deep.equal(['step'])
  })

  it('remembers no secret so short that it hides half of the world', () => {
    const recorder = createRecorder({ records: 10, instances: 1 })
    for (const value of ['abc', 'long enough', 7, undefined]) recorder.secret(value)
    expect([...recorder.secrets]).to.deep.equal(['long enough'])
  })
})
