import { expect } from 'chai'
import fc from 'fast-check'
import { toPlain } from '../../../lib/inspector/plain.ts'

describe('inspector: plain values of messages', () => {
  it('writes what JSON does not know as the protocol says', () => {
    const error = Object.assign(new TypeError('bad'), { code: 'E', status: 5 })
    const named = function act(): void { /* A function by its name. */ }
    expect(toPlain({ error, map: new Map([['a', 1]]), set: new Set([1]), date: new Date(0), big: 5n, named, none: undefined, nan: NaN })).to.deep.equal({
      error: { name: 'TypeError', message: 'bad', code: 'E', status: 5 }, map: { a: 1 }, set: [1], date: '1970-01-01T00:00:00.000Z', big: '5', named: { type: 'act' }, nan: 'NaN',
    })
  })

  it('marks cycles and depths', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(toPlain(circle)).to.deep.equal({ self: '[Circular]' })
    const deep = Array.from({ length: 20 }).reduce<unknown>((inner) => ({ inner }), 1)
    expect(JSON.stringify(toPlain(deep))).to.contain('[Object]')
  })

  it('gives JSON for anything', () => {
    fc.assert(fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => { JSON.stringify(toPlain(value)) }))
  })
})
