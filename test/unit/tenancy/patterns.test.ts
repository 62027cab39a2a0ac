import { expect } from 'chai'
import fc from 'fast-check'
import { compileGlobs, compilePaths, compileTexts } from '../../../lib/tenancy/patterns.ts'

describe('tenancy/patterns', () => {
  it('knows exact texts, prefixes, suffixes and anything', () => {
    const test = compileTexts(['exact', 'pre*', '*suf'])
    expect(['exact', 'prefix', 'pre', 'a.suf', 'exac', 'exactly', 'xpre', 'sufx', '', undefined].map(test)).to.deep.equal([true, true, true, true, false, false, false, false, false, false])
    expect(['a', '', undefined].map(compileTexts(['*']))).to.deep.equal([true, false, false])
    expect(['a', '', undefined].map(compileTexts(['*'], { presence: true }))).to.deep.equal([true, true, false])
  })

  it('takes a star inside a text literally', () => {
    expect(['a*b', 'axb'].map(compileTexts(['a*b']))).to.deep.equal([true, false])
    expect(['x*', 'ax*', 'axy'].map(compileTexts(['*x*']))).to.deep.equal([true, true, false])
  })

  it('ignores case when asked to: the caller gives lower case', () => {
    expect(['x.a', 'y.a'].map(compileTexts(['X.A'], { ignoreCase: true }))).to.deep.equal([true, false])
  })

  it('matches globs as the regular expression would, in linear time', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '-'), { maxLength: 8 }).map((letters) => letters.join(''))
    const glob = fc.array(fc.constantFrom('a', 'b', '-', '*'), { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''))
    fc.assert(fc.property(glob, text, (pattern, value) => {
      expect(compileGlobs([pattern])(value)).to.equal(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(value))
    }), { numRuns: 2000 })
    expect(compileGlobs(['*a'.repeat(50)])('a'.repeat(20_000))).to.equal(true)
    expect(compileGlobs([`${'*a'.repeat(50)}b*`])('a'.repeat(20_000))).to.equal(false)
  })

  it('takes {*} for one segment and {**} for any number', () => {
    const test = compilePaths(['/foo/{*}/bar/{**}', '/plain/*', '/{**}/cart', '/dots.{*}'])
    expect(['/foo/x/bar/', '/foo/x/bar/y/z', '/foo//bar/x', '/foo/x/y/bar/z', '/foo/x/bar'].map(test)).to.deep.equal([true, true, false, false, false])
    expect(['/plain/x', '/store/cart', '/a/b/cart', '/cart', '/dots.js', '/dotsxjs', undefined].map(test)).to.deep.equal([true, true, true, false, true, false, false])
  })
})
