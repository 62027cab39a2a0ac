import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'

// Written in parts, so that this file does not find itself.
const FORBIDDEN = ['work', 'root', 'tmp'].map((folder) => `/${folder}/`)
const MACHINE_PATH = new RegExp(`(?<![\\w.}/-])(?:${FORBIDDEN.join('|')})`)
const REGISTRY = new RegExp(['registry', 'npmjs', 'org'].join('\\.') + '|"res' + 'olved":')
const BINARY = /\.(?:png|jpg|gz|tgz|woff2?|ico|sqlite)$/

/** The texts of the repository: what is committed and what waits to be. */
async function texts(): Promise<Map<string, string>> {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  const found = new Map<string, string>()
  for (const path of list.split('\n')) {
    if (path === '' || BINARY.test(path)) continue
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text !== undefined) found.set(path, text)
  }
  return found
}

describe('house: repository', () => {
  it('holds no path of the machine it was written on, and no registry address', async () => {
    const found: string[] = []
    for (const [path, text] of await texts()) {
      for (const [index, line] of text.split('\n').entries()) {
        if (MACHINE_PATH.test(line) || REGISTRY.test(line)) found.push(`${path}:${index + 1}: ${line.trim().slice(0, 120)}`)
      }
    }
    expect(found).to.deep.equal([])
  })

  it('switches off no rule of the compiler or the linter', async () => {
    const marks = ['@ts-' + 'ignore', '@ts-' + 'nocheck', 'eslint-' + 'disable', 'TO' + 'DO', 'FIX' + 'ME']
    const found: string[] = []
    for (const [path, text] of await texts()) {
      if (!path.endsWith('.ts')) continue
      for (const mark of marks) if (text.includes(mark)) found.push(`${path}: ${mark}`)
    }
    expect(found).to.deep.equal([])
  })
})
