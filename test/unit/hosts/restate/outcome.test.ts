import { expect } from 'chai'
import type { CallCommand, Outcome } from '../../../../lib/instance/index.ts'
import { perform, reviveOutcome } from '../../../../lib/hosts/restate/outcome.ts'

const command = (run: CallCommand['run']): CallCommand => ({ kind: 'call', token: '1', detached: false, run })
const done = (outcome: Outcome) => perform(command(() => outcome), new AbortController().signal)

describe('hosts/restate: outcomes of calls', () => {
  it('are what the call gave, and survive JSON', async () => {
    expect(await done({ output: { result: 1 } })).to.deep.equal({ output: { result: 1 } })
    expect(JSON.parse(JSON.stringify(await done({ output: undefined })))).to.deep.equal({ output: {} })
    const error = { name: 'E', code: 'C', message: 'm' }
    expect(await done({ error })).to.deep.equal({ error })
  })

  it('are errors when the call throws against its promise', async () => {
    const outcome = await perform(command(() => { throw new TypeError('defect') }), new AbortController().signal)
    expect(outcome).to.have.nested.property('error.message', 'defect')
  })

  it('follow what an evaluation prepared to its end', async () => {
    const call = command(() => Promise.resolve({ output: 2 }))
    expect(await done({ prepared: { kind: 'command', command: call } })).to.deep.equal({ output: 2 })
    expect(await done({ prepared: { kind: 'await', type: 't' } })).to.deep.equal({ awaits: 't' })
    expect(await done({ prepared: { kind: 'command', command: { ...call, detached: true } } })).to.deep.equal({ detached: true })
    const subflow = { token: '1', workflowId: 'w', input: 3, detached: false, onParentComplete: 'terminate' } as const
    expect(await done({ prepared: { kind: 'command', command: { kind: 'subflow', ...subflow, finish: () => ({ output: 0 }) } } })).to.deep.equal({ subflow })
  })

  it('become again what an instance takes', () => {
    const finish = (): Outcome => ({ output: 0 })
    expect(reviveOutcome('1', { awaits: 't' }, finish)).to.deep.equal({ prepared: { kind: 'await', type: 't' } })
    expect(reviveOutcome('1', { output: 1 }, finish)).to.deep.equal({ output: 1 })
    const subflow = { token: '1', workflowId: 'w', input: 3, detached: false, onParentComplete: 'terminate' } as const
    expect(reviveOutcome('1', { subflow }, finish)).to.deep.equal({ prepared: { kind: 'command', command: { kind: 'subflow', ...subflow, finish } } })
  })
})
