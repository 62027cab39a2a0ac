import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import { loadDefinition } from '../../../lib/definition/index.ts'
import { translate } from '../../../lib/translation/index.ts'

const folder = join(import.meta.dirname, '../../golden/translation')

const call = (name: string, more: JsonObject = {}): JsonObject => ({ functionRef: name, ...more })

/** A state of each type with what its translation has to look at. */
const STATES: Readonly<Record<string, Json>> = {
  operation: [
    { name: 'S', type: 'operation', stateDataFilter: { input: '${ .a }', output: '${ .b }' }, compensatedBy: 'Undo', transition: { nextState: 'T', compensate: true, produceEvents: [{ eventRef: 'out' }] },
      actions: [call('f', { condition: '${ .c }', retryRef: 'again', sleep: { before: 'PT1S', after: 'PT2S' } }), { eventRef: { triggerEventRef: 'out', resultEventRef: 'in' } }, { subFlowRef: 'other' }],
      onErrors: [{ errorRef: 'bad', transition: 'T' }], timeouts: { stateExecTimeout: 'PT1M', actionExecTimeout: 'PT5S' } },
    { name: 'T', type: 'operation', actionMode: 'parallel', actions: [call('f'), call('f')], end: true },
    { name: 'Undo', type: 'operation', usedForCompensation: true, actions: [call('f')] },
  ],
  switch: [
    { name: 'S', type: 'switch', dataConditions: [{ name: 'yes', condition: '${ .yes }', transition: 'T' }, { condition: '${ .no }', end: true }], defaultCondition: { end: { terminate: true } } },
    { name: 'T', type: 'switch', eventConditions: [{ eventRef: 'in', end: true }], defaultCondition: { end: true }, timeouts: { eventTimeout: 'PT1H' } },
  ],
  inject: [{ name: 'S', type: 'inject', data: { a: 1 }, transition: 'T' }, { name: 'T', type: 'inject', data: {}, end: { continueAs: 'other' } }],
  parallel: [
    { name: 'S', type: 'parallel', branches: [{ name: 'a', actions: [call('f')], timeouts: { branchExecTimeout: 'PT1M' } }, { name: 'b', actions: [call('f')] }], transition: 'T' },
    { name: 'T', type: 'parallel', completionType: 'atLeast', numCompleted: '${ .n }', metadata: { branchData: 'isolated' }, branches: [{ name: 'a', actions: [] }, { name: 'b', actions: [call('f')] }], end: true },
  ],
  event: [
    { name: 'S', type: 'event', onEvents: [{ eventRefs: ['in', 'also'], actions: [call('f')] }, { eventRefs: ['more'], actionMode: 'parallel', actions: [call('f'), call('f')] }], transition: 'T' },
    { name: 'T', type: 'event', exclusive: false, onEvents: [{ eventRefs: ['in', 'also'], actions: [] }], timeouts: { eventTimeout: 'PT1H' }, end: true },
  ],
  sleep: [{ name: 'S', type: 'sleep', duration: 'PT1S', timeouts: { stateExecTimeout: 'PT5S' }, end: true }],
  foreach: [{ name: 'S', type: 'foreach', inputCollection: '${ .list }', outputCollection: '${ .out }', iterationParam: 'item', batchSize: 2, actions: [call('f')], onErrors: [{ errorRef: 'bad', end: true }], end: true }],
  callback: [{ name: 'S', type: 'callback', action: call('f'), eventRef: 'in', timeouts: { eventTimeout: 'PT1H', stateExecTimeout: 'PT2H' }, end: true }],
}

async function machinesOf(states: Json): Promise<Json> {
  const document: JsonObject = {
    id: 'golden', specVersion: '0.8', version: '1.0', functions: [{ name: 'f', type: 'custom', operation: 'service:Orders::create' }],
    events: [...['in', 'also', 'more'].map((name) => ({ name, type: `t.${name}`, source: 's' })), { name: 'out', type: 't.out', kind: 'produced' }],
    errors: [{ name: 'bad', code: '500' }], retries: [{ name: 'again', delay: 'PT1S', maxAttempts: 3 }], states,
  }
  return translate((await loadDefinition({ uri: 'golden.sw.json', document }, { profile: 'spec', root: '.' })).definition) as unknown as Json
}

describe('translation: approved machine configs', () => {
  const rewrite = process.env['UPDATE_GOLDEN'] === '1'

  it('are rewritten by hand only', () => {
    if (rewrite && process.env['CI'] !== undefined) expect.fail('UPDATE_GOLDEN rewrites what was approved; look at the changes and commit them yourself')
  })

  for (const [type, states] of Object.entries(STATES)) {
    it(`of ${type} states are as they were`, async () => {
      const path = join(folder, `${type}.json`)
      const machines = await machinesOf(states)
      if (rewrite && process.env['CI'] === undefined) {
        await mkdir(folder, { recursive: true })
        await writeFile(path, `${JSON.stringify(machines, undefined, 1)}\n`)
      }
      const approved = JSON.parse(await readFile(path, 'utf8')) as Json
      expect(machines, `${path} differs; look at it, then run with UPDATE_GOLDEN=1`).to.deep.equal(approved)
    })
  }
})
