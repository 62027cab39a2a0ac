import { expect } from 'chai'
import { atPointer, type Json } from '../../../lib/common/index.ts'
import { expressionSites, normalise } from '../../../lib/definition/index.ts'
import { FUNCTIONS } from './support/documents.ts'

const events: Json = [
  { name: 'in', type: 't', source: 's', correlation: [{ contextAttributeName: 'a', contextAttributeValue: '${ .v1 }' }] },
  { name: 'out', type: 't', kind: 'produced' },
]
const going = { transition: { nextState: 'Event', produceEvents: [{ eventRef: 'out', data: '.v2', contextAttributes: { b: '${ .v3 }' } }] } }

const DOCUMENT = {
  id: 'all',
  specVersion: '0.8',
  version: '${ .v4 }',
  secrets: ['login'],
  functions: [...FUNCTIONS as readonly Json[], { name: 'g', type: 'expression', operation: '.v5' }],
  events,
  auth: [{ name: 'a', properties: '$SECRETS.login' }, { name: 'b', scheme: 'bearer', properties: { token: '${ .v7 }' } }],
  states: [
    {
      name: 'Operation', type: 'operation', stateDataFilter: { input: '.v8', output: '.v9' }, metadata: { errorMessage: '${ .v10 }' },
      actions: [
        {
          functionRef: { refName: 'f', arguments: { a: ['${ .v11 }', 1], 'b/c': { d: '.v12' } }, selectionSet: '{ ${ .v13 } }' }, condition: '.v14',
          actionDataFilter: { fromStateData: '.v15', results: '.v16', toStateData: '.v17' },
        },
        { functionRef: { refName: 'f', arguments: '.v18' } },
        { eventRef: { triggerEventRef: 'out', resultEventRef: 'in', data: { e: '.v19' }, contextAttributes: { f: '.v20' } } },
      ],
      ...going,
    },
    { name: 'Event', type: 'event', onEvents: [{ eventRefs: ['in'], eventDataFilter: { data: '.v21', toStateData: '.v22' } }], transition: 'Inject' },
    { name: 'Inject', type: 'inject', data: { g: 'v23' }, transition: 'ForEach' },
    { name: 'ForEach', type: 'foreach', inputCollection: '.v24', outputCollection: '.v25', batchSize: '.v26', actions: [], transition: 'Parallel' },
    { name: 'Parallel', type: 'parallel', completionType: 'atLeast', numCompleted: '.v27', branches: [], transition: 'Callback' },
    { name: 'Callback', type: 'callback', action: { functionRef: 'f', condition: '.v28' }, eventRef: 'in', eventDataFilter: { data: '.v29' }, transition: 'Switch' },
    {
      name: 'Switch', type: 'switch', dataConditions: [{ condition: '.v30', end: { continueAs: { workflowId: 'x', data: '.v31' } } }],
      defaultCondition: { end: true },
    },
  ],
}

describe('definition/expression-sites', () => {
  const sites = expressionSites(normalise(DOCUMENT))

  it('lists the text at each place, as the document has it', () => {
    for (const { pointer, text } of sites) expect(atPointer(DOCUMENT, pointer), pointer).to.equal(text)
  })

  it('lists every place once', () => {
    const numbers = [...JSON.stringify(DOCUMENT).matchAll(/[.\s"]v(\d+)/g)].map((match) => match[1]).sort()
    expect(sites.flatMap(({ text }) => /v(\d+)/.exec(text)?.[1] ?? []).sort()).to.deep.equal(numbers)
    expect(new Set(sites.map(({ pointer }) => pointer)).size).to.equal(sites.length)
  })

  it('says what each text is for', () => {
    const purposes = new Map(sites.map(({ text, purpose }) => [/v(\d+)/.exec(text)?.[1] ?? text, purpose]))
    expect(Object.fromEntries(purposes)).to.include({
      1: 'template', 2: 'filter', 4: 'text', 5: 'filter', 8: 'filter', 10: 'text', 11: 'template', 13: 'text', 14: 'condition', 15: 'filter', 16: 'filter',
      17: 'target', 18: 'template', 19: 'template', 21: 'filter', 22: 'target', 23: 'template', 24: 'list', 25: 'target', 27: 'filter', 30: 'condition', 31: 'filter',
    })
  })
})
