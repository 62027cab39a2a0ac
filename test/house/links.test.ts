import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { expect } from 'chai'

/** A link of a page: where it stands and where it leads. */
interface Link {
  readonly place: string
  readonly page: string
  readonly target: string
}

const FENCE = /^```[^]*?^```/gm
const CODE = /`[^`\n]*`/g
const LINK = /\[[^\]]*\]\(<?([^)\s>]+)>?\)/g

/** README.md, CHANGELOG.md and everything below docs. */
async function pages(): Promise<string[]> {
  const below = (await readdir('docs', { recursive: true })).filter((name) => name.endsWith('.md')).map((name) => join('docs', name))
  return ['README.md', 'CHANGELOG.md', ...below]
}

function linksOf(page: string, text: string): Link[] {
  const blank = (code: string): string => code.replaceAll(/[^\n]/g, ' ')
  const prose = text.replaceAll(FENCE, blank).replaceAll(CODE, blank)
  return [...prose.matchAll(LINK)].map((match) => {
    const line = prose.slice(0, match.index).split('\n').length
    return { place: `${page}:${String(line)}`, page, target: match[1] ?? '' }
  })
}

/** The anchor that a heading gets: lower case, without punctuation, spaces as hyphens. */
function anchorOf(heading: string): string {
  return heading.trim().toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-')
}

function anchorsOf(text: string): Set<string> {
  return new Set([...text.replaceAll(FENCE, '').matchAll(/^#+\s+(.+)$/gm)].map((match) => anchorOf(match[1] ?? '')))
}

describe('house: links', () => {
  it('of README, CHANGELOG and docs lead to what is there', async () => {
    const dead: string[] = []
    for (const page of await pages()) {
      for (const { place, target } of linksOf(page, await readFile(page, 'utf8'))) {
        if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue
        const [file = '', anchor] = target.split('#')
        const path = file === '' ? page : normalize(join(dirname(page), decodeURIComponent(file)))
        const exists = await stat(path).then(() => true, () => false)
        if (!exists) dead.push(`${place}: ${target} does not exist`)
        else if (anchor !== undefined && path.endsWith('.md') && !anchorsOf(await readFile(path, 'utf8')).has(anchor)) dead.push(`${place}: ${target} has no such heading`)
      }
    }
    expect(dead).to.deep.equal([])
  })

  it('name every page of docs somewhere', async () => {
    const named = new Set<string>()
    for (const page of await pages()) {
      for (const { target } of linksOf(page, await readFile(page, 'utf8'))) named.add(normalize(join(dirname(page), (target.split('#')[0] ?? '').replace(/\/$/, ''))))
    }
    const lost = (await pages()).filter((page) => page.startsWith('docs') && ![page, dirname(page)].some((path) => named.has(path)))
    expect(lost).to.deep.equal([])
  })
})
