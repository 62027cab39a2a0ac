import { expect } from 'chai'
import { soak } from './soak.ts'

describe('soak, short', function () {
  this.timeout(300_000)

  it('finishes 100 orders exactly while their process is killed four times', async () => {
    const { done, kills, faults } = await soak({ host: 'sqlite', instances: 100, kills: 4, pause: [50, 150], seed: 42 })
    expect(faults).to.deep.equal([])
    expect(done).to.equal(100)
    expect(kills).to.be.at.least(4)
  })

  for (const crash of ['before-commit@2', 'after-commit@3', 'before-effect@2', 'after-effect@4', 'before-answer@2', 'write:instance@4', 'write:timer@3', 'write:outbox@1', 'write:effect@1', 'write:inbox@1']) {
    it(`continues three orders after a kill at ${crash}`, async () => {
      const { done, faults } = await soak({ host: 'sqlite', instances: 3, kills: 0, seed: 1, crash })
      expect(faults).to.deep.equal([])
      expect(done).to.equal(3)
    })
  }
})
