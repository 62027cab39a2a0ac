import { isIP } from 'node:net'
import { expect } from 'chai'
import fc from 'fast-check'
import { compileBlocks, faultOfBlock, parseAddress } from '../../../lib/tenancy/ip.ts'

describe('tenancy/ip', () => {
  it('knows the same addresses as Node, zones aside', () => {
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => { expect(parseAddress(text), text).to.be.an('array') }))
    const odd = fc.array(fc.constantFrom('1', '255', '256', '01', '.', ':', '::', 'ff', 'g', '/', '%'), { maxLength: 12 }).map((parts) => parts.join(''))
    fc.assert(fc.property(odd, (text) => { expect(parseAddress(text) !== undefined, text).to.equal(isIP(text) !== 0 && !text.includes('%')) }), { numRuns: 3000 })
  })

  it('takes IPv4 in IPv6 notation for IPv4', () => {
    expect(parseAddress('::ffff:10.0.0.1')).to.deep.equal(parseAddress('10.0.0.1'))
    expect(compileBlocks(['10.0.0.0/8'])(parseAddress('::ffff:10.1.2.3'))).to.equal(true)
    expect(compileBlocks(['::ffff:10.0.0.0/104'])(parseAddress('10.1.2.3'))).to.equal(true)
  })

  it('compares as many bits as the range says', () => {
    const test = compileBlocks(['10.1.2.128/25', '2001:db8::/33', '192.168.0.7'])
    const inside = (text: string): boolean => test(parseAddress(text))
    expect(['10.1.2.128', '10.1.2.255', '10.1.2.127', '192.168.0.7', '192.168.0.8'].map(inside)).to.deep.equal([true, true, false, true, false])
    expect(['2001:db8:7fff::1', '2001:db8:8000::1', '2001:db9::'].map(inside)).to.deep.equal([true, false, false])
    expect(test(undefined)).to.equal(false)
    expect(compileBlocks(['0.0.0.0/0'])(parseAddress('255.255.255.255'))).to.equal(true)
    expect(compileBlocks(['0.0.0.0/0'])(parseAddress('::1'))).to.equal(false)
    expect(compileBlocks(['255.255.255.255/32'])(parseAddress('255.255.255.254'))).to.equal(false)
  })

  it('tells bad blocks', () => {
    for (const good of ['1.2.3.4', '1.2.3.4/0', '1.2.3.4/32', '::/0', '::1/128']) expect(faultOfBlock(good), good).to.equal(undefined)
    for (const bad of ['', '1.2.3', '1.2.3.4/33', '1.2.3.4/', '1.2.3.4/01', '1.2.3.4/8/8', '::/129', 'fe80::1%eth0', '01.2.3.4', 'localhost', '*']) expect(faultOfBlock(bad), bad).to.match(/neither an IP address/)
  })
})
