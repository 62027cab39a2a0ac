import { expect } from 'chai'
import fc from 'fast-check'
import { nearestNames } from '../../../lib/common/nearest.ts'

describe('common/nearest', () => {
  it('finds what is written almost alike, nearest first', () => {
    expect(nearestNames('getIPO', ['pushData', 'getIP', 'getIPs'])).to.deep.equal(['getIP', 'getIPs'])
    expect(nearestNames('abc', ['xyz'])).to.deep.equal([])
    expect(nearestNames('abc', [])).to.deep.equal([])
  })

  it('counts neighbours that changed places once', () => {
    expect(nearestNames('prot', ['port', 'part'])).to.deep.equal(['port'])
  })

  it('takes case and punctuation for the smallest difference', () => {
    expect(nearestNames('send-mail', ['sendMall', 'sendMail'])).to.deep.equal(['sendMail', 'sendMall'])
    expect(nearestNames('GETIP', ['getIp'])).to.deep.equal(['getIp'])
    expect(nearestNames('-', ['$', '.'], { within: 0 }), 'signs alone say nothing').to.deep.equal([])
  })

  it('allows a third of the letters, or what it is told', () => {
    expect(nearestNames('abcde', ['abcxx'])).to.deep.equal([])
    expect(nearestNames('abcdef', ['abcdxx'])).to.deep.equal(['abcdxx'])
    expect(nearestNames('abcdef', ['abcdxx'], { within: 1 })).to.deep.equal([])
    expect(nearestNames('a', ['xyz', 'uvwxyz'], { within: Infinity })).to.deep.equal(['xyz', 'uvwxyz'])
  })

  it('gives three at most, or as many as it is told, each once', () => {
    const known = ['aab', 'aac', 'aac', 'aad', 'aae']
    expect(nearestNames('aaa', known)).to.deep.equal(['aab', 'aac', 'aad'])
    expect(nearestNames('aaa', known, { most: 1 })).to.deep.equal(['aab'])
  })

  it('never gives the name itself', () => {
    expect(nearestNames('port', ['port', 'ports'])).to.deep.equal(['ports'])
  })

  it('is bounded for names of any length', () => {
    expect(nearestNames('x'.repeat(100_000), ['y'.repeat(100_000), 'x'.repeat(100_001)])).to.deep.equal(['x'.repeat(100_001)])
  })

  it('finds every name that one slip made wrong', () => {
    const slip = fc.tuple(fc.stringMatching(/^[a-z]{3,20}$/), fc.nat(), fc.stringMatching(/^[a-z]$/))
    fc.assert(fc.property(slip, ([name, place, letter]) => {
      const at = place % name.length
      const slips = [
        name.slice(0, at) + name.slice(at + 1),
        name.slice(0, at) + letter + name.slice(at),
        name.slice(0, at) + letter + name.slice(at + 1),
        name.slice(0, at) + (name[at + 1] ?? '') + (name[at] ?? '') + name.slice(at + 2),
      ]
      for (const wrong of slips) if (wrong !== name) expect(nearestNames(wrong, [name]), wrong).to.deep.equal([name])
    }))
  })
})
