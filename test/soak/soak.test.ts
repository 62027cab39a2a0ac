import { expect } from 'chai'
import { soak } from './soak.ts'

describe('soak, short', function () {
  this.timeout(300_000)

  it('finishes 100 orders exactly while their process is killed four times', async () => {
    const { done, kills, faults } = await soak({ host: 'sqlite', instances: 100, kills: 4, seed: 42 })
    expect(faults).to.deep.equal([])
    expect(done).to.equal(100)
    expect(kills).to.be.at.least(4)
  })
})
