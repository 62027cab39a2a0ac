import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { findHostModules, loadHostClasses } from '../../../lib/functions/index.ts'

describe('functions/host-classes', () => {
  let directory: string
  const write = (name: string, text: string): Promise<void> => writeFile(path.join(directory, name), text)
  const load = (...names: string[]): Promise<Map<string, object>> => loadHostClasses(names.map((name) => path.join(directory, name)))
  before(async () => { directory = await mkdtemp(path.join(tmpdir(), 'sonatina-host-')) })
  after(() => rm(directory, { recursive: true }))

  it('makes an instance of every exported class and takes exported objects, by name', async () => {
    await write('a.mjs', 'export class Greeter { hello() { return "hi" } }\nexport const math = { add() {} }\nexport const LIMIT = 3\nexport function plain() {}\nexport default class Main {}')
    const classes = await load('a.mjs')
    expect([...classes.keys()].sort()).to.deep.equal(['Greeter', 'Main', 'math'])
    expect(classes.get('Greeter')).to.respondTo('hello')
  })

  it('lets a later module win', async () => {
    await write('b.mjs', 'export class Greeter { hello() { return "hello" } }')
    expect((await load('a.mjs', 'b.mjs')).get('Greeter')).to.have.property('hello').that.is.a('function')
    expect(((await load('a.mjs', 'b.mjs')).get('Greeter') as { hello(): string }).hello()).to.equal('hello')
  })

  it('names the module that does not load, and the class that cannot be made', async () => {
    await write('broken.mjs', 'export class {')
    await write('picky.mjs', 'export class Picky { constructor(a) { a.b } }')
    for (const [name, text] of [['missing.mjs', 'missing.mjs'], ['broken.mjs', 'cannot be loaded'], ['picky.mjs', '"Picky"']] as const) {
      const error: unknown = await load(name).catch((caught: unknown) => caught)
      expect(error).to.be.instanceOf(ConfigurationError).with.property('message').that.includes(text)
    }
  })

  it('finds modules beside definitions, but no tests, declarations, hidden or nested files', async () => {
    const beside = path.join(directory, 'workflows')
    await mkdir(path.join(beside, 'nested'), { recursive: true })
    for (const name of ['helper.ts', 'old.js', 'helper.test.ts', 'types.d.ts', '.hidden.js', 'flow.sw.json', 'nested/deep.ts']) await writeFile(path.join(beside, name), '')
    expect(await findHostModules([beside, path.join(directory, 'none'), beside])).to.deep.equal(['helper.ts', 'old.js'].map((name) => path.join(beside, name)))
  })
})
