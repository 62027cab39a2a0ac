import { expect } from 'chai'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import type { FunctionResult } from '../../../lib/functions/index.ts'
import type { PersistedInstance } from '../../../lib/instance/index.ts'
import { deferred, Driver } from './support/driver.ts'

const LOOP = {
  id: 'w',
  functions: [{ name: 'f', type: 'custom', operation: 'service:Orders::f' }],
  states: [{ name: 'Each', type: 'foreach', inputCollection: '${ .items }', outputCollection: '${ .results }', iterationParam: 'item', mode: 'sequential', actions: [{ functionRef: 'f' }], end: true }],
}

/** What releases without pages stored: the results in one list. */
function withoutPages(stored: PersistedInstance): PersistedInstance {
  const snapshot = stored.snapshot as unknown as { readonly context: { readonly loop: JsonObject } }
  const { pages, ...loop } = snapshot.context.loop
  return { ...stored, snapshot: { ...snapshot, context: { ...snapshot.context, loop: { ...loop, results: (pages as Json[][]).flat() } } } } as unknown as PersistedInstance
}

describe('instance: foreach states', () => {
  for (const [form, older] of [['as it is stored now', undefined], ['as it was stored before there were pages', withoutPages]] as const) {
    it(`go on in the middle, ${form}, with every result in its place`, async () => {
      const last = deferred<FunctionResult>()
      let calls = 0
      const values: Json[] = ['text', ['a', 'list'], { an: 'object' }, null, 4]
      const driver = await Driver.open(LOOP, { items: [0, 1, 2, 3, 4] }, {
        functions: { f: () => { calls += 1; return calls === 4 ? last.promise : { output: values[calls > 4 ? calls - 2 : calls - 1] ?? null } } },
      })
      driver.turn(() => { driver.instance.begin() })
      while (calls < 4) await driver.answered()
      expect([driver.instance.status, calls]).to.deep.equal(['active', 4])
      await driver.restart(older)
      expect(driver.instance.status).to.equal('completed')
      expect((driver.instance.data as { results: Json }).results).to.deep.equal(['text', ['a', 'list'], { an: 'object' }, 4])
    })
  }
})
