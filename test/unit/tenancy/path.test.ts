import { expect } from 'chai'
import fc from 'fast-check'
import { faultOfTarget, normalisePath } from '../../../lib/tenancy/path.ts'

describe('tenancy/path', () => {
  it('resolves dots, also escaped, and drops the query', () => {
    for (const [target, path] of [
      ['/a/b', '/a/b'], ['/a/./b', '/a/b'], ['/a/../b', '/b'], ['/a/..', '/'], ['/a/.', '/a/'], ['/..', '/'], ['/../../a', '/a'], ['/a/b/../../c/', '/c/'],
      ['/a/%2e%2E/b', '/b'], ['/a/.%2e/b', '/b'], ['/a/%2E/b', '/a/b'], ['/a\\..\\b', '/b'], ['/a?x=/../b', '/a'], ['/a#f', '/a'], ['/a.b/c', '/a.b/c'], ['/...', '/...'],
      ['/a//b', '/a//b'], ['/a//../b', '/a/b'], ['*', '*'], ['/', '/'],
    ] as const) expect(normalisePath(target), target).to.equal(path)
  })

  it('decodes escapes of unreserved characters and no others, and keeps case', () => {
    expect(normalisePath('/%61%5A%30%2d%5f%7e')).to.equal('/aZ0-_~')
    expect(normalisePath('/%2F%5b%20%C3%A9%40%60%7b%3a')).to.equal('/%2F%5b%20%C3%A9%40%60%7b%3a')
  })

  it('gives the same when applied twice, without dot segments', () => {
    const segment = fc.array(fc.constantFrom('a', '.', '..', '%2e', '%2E', '%41', '%2f', '\\', ''), { maxLength: 3 }).map((parts) => parts.join(''))
    fc.assert(fc.property(fc.array(segment, { maxLength: 6 }), (segments) => {
      const once = normalisePath(`/${segments.join('/')}`)
      expect(normalisePath(once)).to.equal(once)
      expect(once.split('/')).to.not.include('..').and.not.include('.')
      expect(once).to.match(/^\//)
    }), { numRuns: 1000 })
  })

  it('tells targets that servers read differently', () => {
    for (const good of ['/', '/a%20b', '/a?x=%0a', '/%2e%2e']) expect(faultOfTarget(good), good).to.equal(undefined)
    for (const bad of ['/a b', '/a\u0000', '/a\u007f', '/%00', '/%0d', '/%7F', '/%', '/%4', '/%zz', '/a?x=%', '/a#b']) expect(faultOfTarget(bad), bad).to.be.a('string')
  })
})
