import { expect } from 'chai'
import { findMissingWorkflows, loadDefinition, type LoadedDefinition } from '../../../lib/definition/index.ts'
import { injectState, operationState, workflow } from './support/documents.ts'

describe('definition/missing-workflows', () => {
  let loaded: LoadedDefinition[]

  before(async () => {
    const parent = workflow({
      id: 'parent',
      states: [
        operationState('A', [{ subFlowRef: 'child' }, { subFlowRef: 'chidl' }, { subFlowRef: { workflowId: 'child', version: '1.0' } }, { subFlowRef: { workflowId: 'child', version: '2.0' } }], { transition: 'B' }),
        injectState('B', { end: { continueAs: 'next' } }),
      ],
    })
    loaded = await Promise.all([parent, workflow({ id: 'child' })].map((document) => loadDefinition({ uri: `${String(document['id'])}.sw.json`, document }, { profile: 'spec' })))
  })

  it('tells sub-flows and continueAs targets that are not loaded', () => {
    const found = loaded.flatMap((each) => findMissingWorkflows(each, loaded))
    expect(found.map(({ rule, pointer, message }) => `${rule} ${pointer} ${message}`)).to.deep.equal([
      'missing-workflow /states/0/actions/1/subFlowRef workflow chidl is not loaded; did you mean "child"?',
      'missing-workflow /states/0/actions/3/subFlowRef workflow child of version 2.0 is not loaded; loaded is version 1.0',
      'missing-workflow /states/1/end/continueAs workflow next is not loaded; defined are "parent", "child"',
    ])
  })
})
