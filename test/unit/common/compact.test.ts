import { expect } from 'chai'
import { compact } from '../../../lib/common/compact.ts'

describe('common/compact', () => {
  it('leaves out what is undefined, and nothing else', () => {
    expect(compact({ a: 1, b: undefined, c: null, d: '', e: 0, f: false })).to.deep.equal({ a: 1, c: null, d: '', e: 0, f: false })
    expect(Object.keys(compact({ a: undefined }))).to.deep.equal([])
  })

  it('gives a copy', () => {
    const properties = { a: 1 }
    expect(compact(properties)).to.not.equal(properties)
  })

  it('makes what may be undefined optional, for the compiler', () => {
    const given: { readonly a: number; readonly b: string | undefined } = { a: 1, b: undefined }
    const result: { readonly a: number; readonly b?: string } = compact(given)
    expect(result).to.deep.equal({ a: 1 })
  })
})
