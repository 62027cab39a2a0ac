import { expect } from 'chai'
import { check, property, string, assert, array } from 'fast-check'
import { digestOf, idFrom, serviceNames } from '../../../../lib/hosts/restate/names.ts'

describe('hosts/restate: names', () => {
  it('gives the same id for the same cause, in the form of a UUID of version 8', () => {
    assert(property(array(string(), { minLength: 1 }), (cause) => {
      expect(idFrom(...cause)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(idFrom(...cause)).to.equal(idFrom(...cause))
    }))
  })

  it('tells causes apart that read alike when joined', () => {
    expect(idFrom('a', 'bc')).not.to.equal(idFrom('ab', 'c'))
    const clash = check(property(string(), string(), (one, other) => one === other || digestOf(one) !== digestOf(other)))
    expect(clash.failed).to.equal(false)
  })

  it('puts all services below the namespace', () => {
    for (const name of Object.values(serviceNames('shop')) as string[]) expect(name).to.match(/^shop\.[a-z]+$/)
  })
})
