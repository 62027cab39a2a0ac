import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { defaultCorpus, isFolder, missingCorpusLine, OWN_CASES } from './corpus.ts'
import { repeatCommand, type SuiteResult } from './suite-result.ts'
import { loadContested } from './workflows/contested.ts'
import { renderParity } from './workflows/parity.ts'
import { compareSkips } from './workflows/skip-record.ts'
import { runWorkflowsSuite } from './workflows/suite.ts'

function failures(result: SuiteResult): readonly string[] {
  return result.cases.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => `${reason ?? ''}\n${repeatCommand(result, id)}`)
}

describe('conformance: cases of the project', () => {
  it('all pass', async function () {
    this.timeout(60_000)
    const result = await runWorkflowsSuite({ corpus: OWN_CASES })
    expect(result.cases).to.not.have.length(0)
    expect(failures({ ...result, corpus: OWN_CASES })).to.deep.equal([])
  })
})

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
    expect(failures(result)).to.deep.equal([])
  })

  it('skips as many cases for each need as are on record', async () => {
    expect(await compareSkips(result)).to.deep.equal([])
  })

  it('is what docs/parity.md was generated from', async () => {
    const own = await runWorkflowsSuite({ corpus: OWN_CASES })
    const page = await renderParity({ corpus: result, own }, defaultCorpus())
    expect(await readFile('docs/parity.md', 'utf8'), 'npm run conformance -- --suite workflows --parity').to.equal(page)
  })

  it('contests only cases that are there and do fail', async () => {
    const contested = result.cases.filter(({ outcome }) => outcome === 'contested').map(({ id }) => id)
    expect(contested).to.have.members(Object.keys(await loadContested()))
  })
})
