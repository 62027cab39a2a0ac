import { expect } from 'chai'
import { runImages } from './images.ts'
import { runKill } from './kills.ts'
import { WORKFLOWS } from './workflows.ts'

// The short form of `npm run crash-points`, which takes every passing of every point.

describe('crash points', function () {
  this.timeout(60_000)

  for (const workflow of WORKFLOWS) {
    it(`"${workflow.id}" continues exactly from each table write, commit and effect`, async () => {
      const { images, faults } = await runImages(workflow, (point, number) => number === (point.startsWith('write:') ? 1 : 2))
      expect(faults).to.deep.equal([])
      expect(images).to.be.at.least(8)
    })
  }

  it('a process that is killed leaves what an image holds', async () => {
    const [workflow] = WORKFLOWS.filter(({ id }) => id === 'subflow')
    if (workflow === undefined) throw new Error('there is no such workflow')
    expect(await runKill(workflow, 'after-commit@3')).to.deep.equal({ killed: true, faults: [] })
  })
})
