import { expect } from 'chai'
import { nearestNames, suggest } from '../../../lib/definition/nearest.ts'

describe('definition/nearest', () => {
  it('finds what is written almost alike, nearest first', () => {
    expect(nearestNames('getIPO', ['pushData', 'getIP', 'getIPs'])).to.deep.equal(['getIP', 'getIPs'])
    expect(nearestNames('send-mail', ['sent', 'sendMail'])).to.deep.equal(['sendMail'])
    expect(nearestNames('abc', ['xyz'])).to.deep.equal([])
  })

  it('names what there is when nothing is alike', () => {
    expect(suggest('abc', [])).to.equal('none is defined')
    expect(suggest('abc', ['xyz', 'uvw'])).to.equal('defined are "xyz", "uvw"')
    expect(suggest('abc', ['abd'])).to.equal('did you mean "abd"?')
  })

  it('is bounded for names of any length', () => {
    expect(nearestNames('x'.repeat(100_000), ['y'.repeat(100_000)]).length).to.be.at.most(1)
  })
})
