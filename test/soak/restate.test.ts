import { expect } from 'chai'
import { restateBinary } from '../support/restate-server.ts'
import { engineSoak, type EngineSoakOptions } from './engine-soak.ts'

if (restateBinary() !== undefined) {
  describe('soak on the distributed engine, short', function () {
    this.timeout(300_000)

    const runs: Readonly<Record<string, EngineSoakOptions>> = {
      'while a worker and the engine are killed': { scenario: 'kills', instances: 20, workerKills: 1, serverKills: 1, seed: 42 },
      'when one of two workers is killed': { scenario: 'worker-lost', instances: 20, workerKills: 1, serverKills: 0, seed: 42 },
      'when one of two workers is frozen': { scenario: 'worker-frozen', instances: 20, workerKills: 1, serverKills: 0, seed: 42 },
      'when one of three nodes is killed': { scenario: 'node-lost', instances: 20, workerKills: 0, serverKills: 1, seed: 42 },
    }
    for (const [title, options] of Object.entries(runs)) {
      it(`finishes 20 orders exactly ${title}`, async () => {
        const { done, faults, recovered } = await engineSoak(options)
        expect(faults).to.deep.equal([])
        expect(done).to.equal(20)
        expect(recovered, 'seconds after the loss').to.be.below(60)
      })
    }
  })
}
