import { readFile, writeFile } from 'node:fs/promises'
import { expect } from 'chai'
import { renderTables } from './documentation.ts'

const PAGE = new URL('../../../docs/configuration.md', import.meta.url)
const START = (title: string): string => `<!-- settings: ${title} -->`
const END = '<!-- end -->'

// `UPDATE_GOLDEN=1` writes the tables anew.
describe('docs/configuration.md', () => {
  it('has a table for every section of the catalogue, equal to it', async () => {
    const page = await readFile(PAGE, 'utf8')
    let expected = page
    for (const [title, table] of renderTables()) {
      const from = expected.indexOf(START(title))
      expect(from, `section "${title}"`).to.be.greaterThan(-1)
      const to = expected.indexOf(END, from)
      expected = `${expected.slice(0, from)}${START(title)}\n${table}\n${expected.slice(to)}`
    }
    if (process.env['UPDATE_GOLDEN'] === '1' && process.env['CI'] === undefined) await writeFile(PAGE, expected)
    else expect(page).to.equal(expected)
  })

  it('marks no table for a section that is gone', async () => {
    const page = await readFile(PAGE, 'utf8')
    const titles = [...page.matchAll(/<!-- settings: (.+?) -->/g)].map(([, title]) => title)
    expect(titles).to.deep.equal([...renderTables().keys()])
  })
})
