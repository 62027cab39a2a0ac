import { expect } from 'chai'
import { defaultCorpus, isFolder, missingCorpusLine } from '../corpus.ts'
import { runTenancySuite } from './suite.ts'

describe('conformance: tenancy', () => {
  it('passes on every file of the corpus', async function () {
    this.timeout(180_000)
    const corpus = defaultCorpus()
    if (!await isFolder(corpus)) {
      process.stdout.write(`${missingCorpusLine(corpus, 1)}\n`)
      this.skip()
    }
    const { cases } = await runTenancySuite({ corpus })
    expect(cases.filter(({ outcome }) => outcome !== 'passed').map(({ id, reason }) => `${id}: ${reason ?? ''}`)).to.deep.equal([])
    const kinds = new Set(cases.map(({ feature }) => feature))
    for (const kind of ['tenant documents', 'system documents', 'matrix', 'integration', 'valid documents', 'invalid documents']) expect(kinds).to.include(kind)
  })

  it('runs one case when asked for it, and none on a folder without data', async function () {
    const corpus = defaultCorpus()
    if (!await isFolder(corpus)) this.skip()
    const { cases } = await runTenancySuite({ corpus, caseId: 'golden/system-policies.yaml' })
    expect(cases.map(({ id, outcome }) => `${id} ${outcome}`)).to.deep.equal(['golden/system-policies.yaml passed'])
    expect((await runTenancySuite({ corpus: 'docs' })).cases).to.deep.equal([])
  })
})
