import { expect } from 'chai'
import { expandPrincipals, expandTrustDomains, isWorkloadIdentity, parseIdentity } from '../../../lib/tenancy/identity.ts'

describe('tenancy/identity', () => {
  it('takes identities apart, with or without the scheme', () => {
    const whole = { uri: 'spiffe://td/ns/a/sa/b', principal: 'td/ns/a/sa/b', trustDomain: 'td', namespace: 'a', serviceAccount: 'b' }
    expect(parseIdentity('spiffe://td/ns/a/sa/b')).to.deep.equal(whole)
    expect(parseIdentity('td/ns/a/sa/b')).to.deep.equal(whole)
    expect(parseIdentity('spiffe://td/region/x/ns/a/sa/b/k/v')).to.include({ namespace: 'a', serviceAccount: 'b' })
  })

  it('keeps what other shapes have', () => {
    for (const text of ['spiffe://td', 'spiffe://td/x', 'spiffe://td/ns/a', 'spiffe://td/ns//sa/b', '']) expect(parseIdentity(text), text).to.not.have.property('namespace')
    expect(parseIdentity('spiffe://td/ns/a/x/y')).to.include({ namespace: 'a' }).and.not.have.property('serviceAccount')
  })

  it('tells the exact form that a workload has', () => {
    expect(isWorkloadIdentity('spiffe://cluster.local/ns/a-1/sa/b.c')).to.equal(true)
    for (const text of ['spiffe://cluster.local/ns/A/sa/b', 'spiffe://cluster.local/ns/a/sa/b/', 'spiffe://cluster.local/ns/a/sa/', 'spiffe:///ns/a/sa/b', 'cluster.local/ns/a/sa/b', 'spiffe://td/ns/a/sa/b?x', `spiffe://td/ns/a/sa/${'b'.repeat(254)}`, 'spiffe://td:80/ns/a/sa/b']) expect(isWorkloadIdentity(text), text).to.equal(false)
  })

  it('means a principal in all trusted domains', () => {
    expect(expandPrincipals(['cluster.local/ns/a/sa/b'], ['td1', 'td2'])).to.deep.equal(['td1/ns/a/sa/b', 'td2/ns/a/sa/b'])
    expect(expandPrincipals(['td2/ns/a/sa/b'], ['td1', 'td2'])).to.deep.equal(['td1/ns/a/sa/b', 'td2/ns/a/sa/b'])
    expect(expandPrincipals(['foreign/ns/a/sa/b', '*', '*/ns/a/sa/b', 'short'], ['td1'])).to.deep.equal(['foreign/ns/a/sa/b', '*', '*/ns/a/sa/b', 'short'])
    expect(expandPrincipals(['*-td/ns/a/sa/b'], ['new-td', 'old-td', 'other'])).to.deep.equal(['*-td/ns/a/sa/b', 'other/ns/a/sa/b'])
    expect(expandPrincipals(['cluster.local/ns/a/sa/b'], [])).to.deep.equal(['cluster.local/ns/a/sa/b'])
    expect(expandTrustDomains(['td2', 'x'], ['td1', 'td2'])).to.deep.equal(['td1', 'td2', 'x'])
  })
})
