import { expect } from 'chai'
import { restateBinary } from '../support/restate-server.ts'
import { defaultCorpus, isFolder, missingCorpusLine, OWN_CASES } from './corpus.ts'
import type { SuiteResult } from './suite-result.ts'
import { closeEngine } from './workflows/engine.ts'
import { runWorkflowsSuite } from './workflows/suite.ts'

// The same cases with instances on the distributed engine: nothing that a caller sees may differ. Skips are those on record, each with its reason.

const settings = { 'sonatina.store': 'restate' }
const failures = ({ cases }: SuiteResult): readonly string[] => cases.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => `${id}: ${reason ?? ''}`)

if (restateBinary() !== undefined) {
  describe('conformance on the distributed engine', function () {
    this.timeout(1_500_000)
    after(() => closeEngine())

    it('passes the cases of the project', async () => {
      const result = await runWorkflowsSuite({ corpus: OWN_CASES, settings })
      expect(result.cases).to.not.have.length(0)
      expect(failures(result)).to.deep.equal([])
    })

    // All of them take minutes, which CI has; elsewhere there is npm run conformance -- --suite workflows --set sonatina.store=restate.
    const every = process.env['CI'] === undefined ? 4 : 1
    it(`passes ${every === 1 ? 'each' : 'each fourth'} case of the corpus that passes in memory`, async function () {
      const corpus = defaultCorpus()
      if (!await isFolder(corpus)) {
        process.stdout.write(`${missingCorpusLine(corpus, 1)}\n`)
        this.skip()
      }
      const result = await runWorkflowsSuite({ corpus, settings, every })
      expect(result.cases.length).to.be.greaterThan(0)
      expect(failures(result)).to.deep.equal([])
    })
  })
}
