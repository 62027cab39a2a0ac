import { expect } from 'chai'
import fc from 'fast-check'
import type { Json } from '../../../lib/common/index.ts'
import { passingOf, passingText, type PassingInstance, type PassingText } from '../../../lib/hosts/sqlite/passing-form.ts'
import type { HistoryStep } from '../../../lib/instance/index.ts'

const STARTED = 1_800_000_000_000

const json = fc.jsonValue() as fc.Arbitrary<Json>
const text = fc.string()

// Every member that a step may have: one that is added and not handled here does not compile.
const members: { readonly [Name in keyof Required<HistoryStep>]: fc.Arbitrary<Required<HistoryStep>[Name]> } = {
  sequence: fc.nat(),
  at: fc.integer({ min: STARTED - 1000, max: STARTED + 1_000_000 }),
  type: fc.constantFrom('started', 'stateEntered', 'actionCompleted'),
  nodeId: text,
  state: text,
  action: text,
  branch: text,
  data: json,
  detail: fc.dictionary(fc.string().filter((name) => name !== '__proto__'), json),
}

const step = fc.record(members, { requiredKeys: ['sequence', 'at', 'type'] }) as fc.Arbitrary<HistoryStep>

function instanceOf(steps: readonly HistoryStep[], data: Json): PassingInstance {
  const facts = { id: 'i', workflowId: 'w', version: '1', input: data, headers: { a: 'b' }, startedAt: STARTED, businessKey: 'k' }
  return {
    facts,
    definition: 'hash',
    status: 'active',
    record: { id: 'i', workflowId: 'w', version: '1', status: 'active', data, startedAt: STARTED, businessKey: 'k', waitingFor: [{ kind: 'function', nodeId: 'A/b', nodeInstanceId: '2', since: STARTED }] },
    busy: true,
    undelivered: false,
    dependent: false,
    nextStep: steps.length,
    steps,
    state: { snapshot: { status: 'active', context: { data } }, sequence: 2 } as unknown as PassingInstance['state'],
  }
}

const read = (written: string): PassingInstance => passingOf(JSON.parse(written) as PassingText, 'hash')

describe('property: the text of an instance under way', () => {
  it('gives back what it was made of', () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 12 }), json, (steps, data) => {
      const instance = instanceOf(steps, data)
      expect(read(passingText(instance))).to.deep.equal(JSON.parse(JSON.stringify(instance)))
    }))
  })

  it('holds data that several steps share once', () => {
    const data = { ballast: 'x'.repeat(1000) }
    const steps = Array.from({ length: 10 }, (_, sequence): HistoryStep => ({ type: 'stateEntered', sequence, at: STARTED, data, state: 'A', nodeId: 'A' }))
    const written = passingText(instanceOf(steps, data))
    // The input, the data of the steps, the data of the snapshot.
    expect(written.split(data.ballast)).to.have.length(4)
    expect(read(written).steps).to.deep.equal(steps)
  })
})
