import { readdir, readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { ERROR_CODES } from '../../lib/errors/index.ts'

const codes = Object.values(ERROR_CODES).flat().sort()

describe('house: error codes', () => {
  it('have a page each in docs/errors, and no page is left over', async () => {
    const pages = (await readdir('docs/errors')).filter((name) => name !== 'README.md').map((name) => name.replace(/\.md$/, '')).sort()
    expect(pages).to.deep.equal(codes)
  })

  it('are named by the heading of their page, which says how to cure', async () => {
    for (const code of codes) {
      const text = await readFile(`docs/errors/${code}.md`, 'utf8')
      expect(text, `docs/errors/${code}.md`).to.match(new RegExp(`^# ${code}\\n`))
      expect(text, `docs/errors/${code}.md lacks a section "What to do"`).to.match(/^## What to do$/m)
    }
  })

  it('have a status each in the table of the server', async () => {
    const text = await readFile('lib/server/problem.ts', 'utf8')
    const missing = codes.filter((code) => !new RegExp(`\\b${code}:`).test(text))
    expect(missing, 'lib/server/problem.ts').to.deep.equal([])
    expect(text).to.match(/satisfies (?:Readonly<)?Record<ErrorCode, /)
  })
})
