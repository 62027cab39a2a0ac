import { expect } from 'chai'
import type { Json } from '../../../lib/common/index.ts'
import { mergeObjects, mergeResult, type Profile } from '../../../lib/expressions/index.ts'

describe('merging results', () => {
  const rows: readonly [string, Json | undefined, Json | undefined, Json, Json][] = [
    // what, data, result, spec, sonataflow
    ['no result', { a: 1 }, undefined, { a: 1 }, { a: 1 }],
    ['a null result', { a: 1 }, null, { a: 1 }, { a: 1 }],
    ['null data', null, [1], [1], [1]],
    ['no data', undefined, 'x', 'x', 'x'],
    ['empty data', {}, 'x', { response: 'x' }, 'x'],
    ['objects, deeply', { a: { b: 1, c: 2 } }, { a: { c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }],
    ['null inside an object', { a: 1 }, { a: null }, { a: null }, { a: null }],
    ['lists', { a: [1, { x: 1 }] }, { a: [{ x: 1 }, 2] }, { a: [1, { x: 1 }, 2] }, { a: [{ x: 1 }, 2] }],
    ['a scalar into object data', { a: 1 }, 'x', { a: 1, response: 'x' }, { a: 1, response: 'x' }],
    ['a list into object data', { a: 1 }, [2], { a: 1, response: [2] }, { a: 1, response: [2] }],
    ['a second list into object data', { response: [1] }, [2], { response: [1, 2] }, { response: [2] }],
    ['a scalar into a list', { a: [1] }, { a: 2 }, { a: [1, 2] }, { a: [1, 2] }],
    ['a scalar that a list has', { a: [1] }, { a: 1 }, { a: [1] }, { a: [1] }],
    ['an object over a nested list', { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }, { a: { b: 1 } }],
    ['a list over a nested scalar', { a: 1 }, { a: [2] }, { a: [2] }, { a: [2] }],
    ['an object over scalar data', 'text', { a: 1 }, { _target: 'text', a: 1 }, { _target: 'text', a: 1 }],
    ['a scalar over scalar data', 1, 2, 2, 2],
    ['anything into list data', [1], { a: 1 }, [1, { a: 1 }], [1, { a: 1 }]],
    ['a list over list data', [1], [1, 2], [1, 2], [1, 2]],
  ]
  for (const [what, data, result, spec, sonataflow] of rows) {
    it(what, () => {
      const before = JSON.stringify([data, result])
      const expected: Readonly<Record<Profile, Json>> = { spec, sonataflow }
      for (const profile of ['spec', 'sonataflow'] as const) expect(mergeResult(data, result, profile), profile).to.deep.equal(expected[profile])
      expect(JSON.stringify([data, result])).to.equal(before)
    })
  }

  it('keeps __proto__ as data', () => {
    const merged = mergeObjects({}, JSON.parse('{"__proto__": {"x": 1}}') as { [key: string]: Json }, 'spec')
    expect(Object.keys(merged)).to.deep.equal(['__proto__'])
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype)
  })
})
