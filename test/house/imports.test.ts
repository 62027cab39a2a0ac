import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { expect } from 'chai'
import table from './import-table.json' with { type: 'json' }

interface Row {
  readonly imports: readonly string[]
  readonly packages: readonly string[]
  readonly pure?: boolean
}

const modules: Readonly<Record<string, Row>> = table.modules

/** Reads the table of modules from docs/how-it-works.md. */
async function documentedTable(): Promise<Record<string, Row>> {
  const text = await readFile('docs/how-it-works.md', 'utf8')
  const list = (cell: string): string[] => (cell === '–' ? [] : cell.split(', '))
  const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const start = rows.findIndex((cells) => cells[1] === 'module')
  const found: Record<string, Row> = {}
  for (const [, name, imports, packages, pure] of rows.slice(start + 2)) {
    if (name === undefined || imports === undefined || packages === undefined) break
    found[name] = { imports: list(imports), packages: list(packages), ...(pure === 'yes' ? { pure: true } : {}) }
  }
  return found
}

/** Runs the checker over a planted tree of files and gives the names of the rules that were broken, by file. */
async function cruise(files: Readonly<Record<string, string>>): Promise<Map<string, string[]>> {
  // Outside the repository: resolved packages must keep `node_modules` in their path relative to the planted tree.
  const root = await mkdtemp(join(tmpdir(), 'planted-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(root, path, '..'), { recursive: true })
      await writeFile(join(root, path), text)
    }
    await mkdir(join(root, 'test/house'), { recursive: true })
    await writeFile(join(root, 'test/house/import-table.json'), JSON.stringify(table))
    await writeFile(join(root, '.dependency-cruiser.cjs'), await readFile('.dependency-cruiser.cjs'))
    await writeFile(join(root, 'tsconfig.json'), await readFile('tsconfig.json'))
    await writeFile(join(root, 'package.json'), await readFile('package.json'))
    await symlink(join(process.cwd(), 'node_modules'), join(root, 'node_modules'))
    const checker = join(process.cwd(), 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
    const run = spawnSync(process.execPath, [checker, 'lib', '--config', '.dependency-cruiser.cjs', '-T', 'json'], {
      cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024,
    })
    const result = JSON.parse(run.stdout) as { summary: { violations: { from: string; rule: { name: string } }[] } }
    const broken = new Map<string, string[]>()
    for (const { from, rule } of result.summary.violations) {
      broken.set(from, [...new Set([...(broken.get(from) ?? []), rule.name])].sort())
    }
    return broken
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

describe('house: imports', () => {
  it('states the same table in docs/how-it-works.md as the checker uses', async () => {
    expect(await documentedTable()).to.deep.equal(modules)
  })

  it('has a row for every folder of lib', async () => {
    const folders = (await readdir('lib', { withFileTypes: true })).filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    const unknown = folders.filter((name) => !(name in modules) && !table.free.includes(name))
    expect(unknown, 'add a row to test/house/import-table.json and docs/how-it-works.md').to.deep.equal([])
  })

  it('names only modules that stand in the table, and never in a circle', () => {
    const order = Object.keys(modules)
    for (const [name, row] of Object.entries(modules)) {
      expect(order).to.include.members([...row.imports])
      expect(row.imports, `${name} imports itself`).to.not.include(name)
    }
  })

  it('finds each planted fault', async () => {
    const broken = await cruise({
      'lib/errors/index.ts': 'export const a = 1\n',
      'lib/common/index.ts': 'export { b } from "./b.ts"\n',
      'lib/common/b.ts': 'export const b = 1\n',
      'lib/definition/upward.ts': 'import { s } from "../server/index.ts"\nexport const d = s\n',
      'lib/definition/deep.ts': 'import { b } from "../common/b.ts"\nexport const d = b\n',
      'lib/definition/files.ts': 'import { readFileSync } from "node:fs"\nexport const d = readFileSync\n',
      'lib/definition/load.ts': 'import { readFileSync } from "node:fs"\nexport const d = readFileSync\n',
      'lib/definition/stranger.ts': 'import Koa from "koa"\nexport const d = Koa\n',
      'lib/definition/family.ts': 'import formats from "ajv-formats"\nexport const d = formats\n',
      'lib/definition/one.ts': 'import { two } from "./two.ts"\nexport const one = (): number => two()\n',
      'lib/definition/two.ts': 'import { one } from "./one.ts"\nexport const two = (): number => one()\n',
      'lib/definition/top.ts': 'import { r } from "../runtime.ts"\nexport const d = r\n',
      'lib/runtime.ts': 'export const r = 1\n',
      'lib/server/index.ts': 'export const s = 1\n',
      'lib/hosts/memory/index.ts': 'import { q } from "../sqlite/index.ts"\nexport const m = q\n',
      'lib/hosts/sqlite/index.ts': 'export const q = 1\n',
      'lib/cli/main.ts': 'import { b } from "../common/b.ts"\nexport const c = b\n',
      'lib/server/tests.ts': 'import { t } from "../../test/t.ts"\nexport const s = t\n',
      'test/t.ts': 'export const t = 1\n',
      'lib/server/nothing.ts': 'import { n } from "./absent.ts"\nexport const s = n\n',
    })
    expect(Object.fromEntries(broken)).to.deep.equal({
      'lib/definition/upward.ts': ['direction-definition'],
      'lib/definition/deep.ts': ['index-door'],
      'lib/definition/files.ts': ['pure-zone'],
      'lib/definition/stranger.ts': ['packages-definition'],
      'lib/definition/one.ts': ['no-cycle'],
      'lib/definition/top.ts': ['composition-is-above', 'direction-definition'],
      'lib/hosts/memory/index.ts': ['host-siblings-apart'],
      'lib/cli/main.ts': ['index-door'],
      'lib/server/tests.ts': ['lib-never-imports-test'],
      'lib/server/nothing.ts': ['not-resolvable'],
    })
  })
})
