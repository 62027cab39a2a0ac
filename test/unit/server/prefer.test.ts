import { expect } from 'chai'
import { parsePrefer } from '../../../lib/server/prefer.ts'

describe('server/prefer', () => {
  const cases: [header: string | undefined, expected: object][] = [
    [undefined, { respondAsync: false }],
    ['', { respondAsync: false }],
    ['return=minimal', { respondAsync: false }],
    ['respond-async', { respondAsync: true, applied: 'respond-async' }],
    ['Respond-Async', { respondAsync: true, applied: 'respond-async' }],
    ['wait=5', { respondAsync: false, wait: 5000, applied: 'wait=5' }],
    ['wait = "5"', { respondAsync: false, wait: 5000, applied: 'wait=5' }],
    ['respond-async, wait=10', { respondAsync: true, wait: 10_000, applied: 'respond-async, wait=10' }],
    ['wait=1, wait=2', { respondAsync: false, wait: 1000, applied: 'wait=1' }],
    ['wait=-1', { respondAsync: false }],
    ['wait=soon', { respondAsync: false }],
    ['respond-async; foo=bar', { respondAsync: true, applied: 'respond-async' }],
    ['wait=999999999', { respondAsync: false, wait: 86_400_000, applied: 'wait=86400' }],
  ]
  for (const [header, expected] of cases) {
    it(`reads ${JSON.stringify(header)}`, () => { expect(parsePrefer(header)).to.deep.equal(expected) })
  }
})
