import { expect } from 'chai'
import { defaultCorpus, isFolder, missingCorpusLine } from './corpus.ts'
import { repeatCommand, type SuiteResult } from './suite-result.ts'
import { loadContested } from './workflows/contested.ts'
import { compareSkips } from './workflows/skip-record.ts'
import { runWorkflowsSuite } from './workflows/suite.ts'

describe('conformance: workflows', function () {
  this.timeout(300_000)
  let result: SuiteResult

  before(async function () {
    const corpus = defaultCorpus()
    if (!await isFolder(corpus)) {
      process.stdout.write(`${missingCorpusLine(corpus, 1)}\n`)
      this.skip()
    }
    result = await runWorkflowsSuite({ corpus })
  })

  it('has no case that fails, but for those the project contests', () => {
    const failed = result.cases.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ id, reason }) => `${reason ?? ''}\n${repeatCommand('workflows', id)}`)).to.deep.equal([])
  })

  it('skips as many cases for each need as are on record', async () => {
    expect(await compareSkips(result)).to.deep.equal([])
  })

  it('contests only cases that are there and do fail', async () => {
    const contested = result.cases.filter(({ outcome }) => outcome === 'contested').map(({ id }) => id)
    expect(contested).to.have.members(Object.keys(await loadContested()))
  })
})
