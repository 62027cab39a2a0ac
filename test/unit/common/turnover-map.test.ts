import { expect } from 'chai'
import { TurnoverMap } from '../../../lib/common/index.ts'

describe('common/turnover-map', () => {
  it('is a map', () => {
    const map = new TurnoverMap<string, number>()
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    expect([map.size, map.get('a'), map.get('c')]).to.deep.equal([2, 3, undefined])
    expect([...map]).to.deep.equal([['a', 3], ['b', 2]])
    expect(map.delete('a')).to.equal(true)
    expect(map.delete('a')).to.equal(false)
    expect([...map.values()]).to.deep.equal([2])
  })

  it('may lose and win entries while it is looked through', () => {
    const map = new TurnoverMap<number, string>()
    for (const number of [1, 2, 3]) map.set(number, `v${String(number)}`)
    const seen: string[] = []
    for (const [number, value] of map) {
      seen.push(value)
      if (number === 1) map.delete(2)
      if (number === 3) map.set(4, 'v4')
    }
    expect(seen).to.deep.equal(['v1', 'v3', 'v4'])
  })

  it('gives a key that comes back the last place, with its new value', () => {
    const map = new TurnoverMap<string, number>()
    map.set('a', 1)
    map.set('b', 2)
    map.delete('a')
    map.set('a', 3)
    expect([...map]).to.deep.equal([['b', 2], ['a', 3]])
  })
})
