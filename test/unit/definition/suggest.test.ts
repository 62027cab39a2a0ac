import { expect } from 'chai'
import { suggest } from '../../../lib/definition/suggest.ts'

describe('definition/suggest', () => {
  it('names what may have been meant', () => {
    expect(suggest('abc', ['abd'])).to.equal('did you mean "abd"?')
    expect(suggest('abc', ['abd', 'xyz', 'ab'])).to.equal('did you mean "abd" or "ab"?')
  })

  it('names what there is when nothing is alike', () => {
    expect(suggest('abc', [])).to.equal('none is defined')
    expect(suggest('abc', ['xyz', 'uvw'])).to.equal('defined are "xyz", "uvw"')
    expect(suggest('abc', 'pqrstuvwxyz'.split(''))).to.match(/"w" and others$/)
  })
})
