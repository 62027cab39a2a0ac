import { expect } from 'chai'
import fc from 'fast-check'
import { withEntry, type Pages } from '../../../lib/instance/pages.ts'

describe('instance/pages', () => {
  it('hold what was put at each index, in whatever order it came', () => {
    fc.assert(fc.property(fc.array(fc.nat(1000), { maxLength: 300 }), (indexes) => {
      let pages: Pages<number | null> = []
      const expected: (number | null)[] = []
      for (const [at, index] of indexes.entries()) {
        pages = withEntry(pages, index, at)
        expected[index] = at
      }
      expect(pages.flat().filter((entry) => entry !== null)).to.deep.equal(Object.values(expected))
      expect(JSON.parse(JSON.stringify(pages))).to.deep.equal(pages)
    }))
  })

  it('leave the list before as it was, and share with it what has not changed', () => {
    let pages: Pages<number | null> = []
    for (let index = 0; index < 1000; index += 1) pages = withEntry(pages, index, index)
    const next = withEntry(pages, 1000, 1000)
    expect(pages.flat()).to.have.length(1000)
    expect(next.flat()).to.have.length(1001)
    expect(next.slice(0, -1).every((page, index) => page === pages[index])).to.equal(true)
  })
})
