import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { importModule } from '../../../lib/common/index.ts'

describe('common/import-module', () => {
  let directory = ''
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sonatina-module-'))
    await writeFile(join(directory, 'package.json'), '{ "type": "commonjs" }')
  })
  after(() => rm(directory, { recursive: true }))

  const load = async (name: string, text: string): Promise<Readonly<Record<string, unknown>>> => {
    await writeFile(join(directory, name), text)
    return importModule(join(directory, name), name)
  }

  it('gives the exports of an ES module by their names', async () => {
    const exported = await load('es.mjs', 'export class Greeter {}\nexport default class Main {}')
    expect(Object.keys(exported).sort()).to.deep.equal(['Greeter', 'default'])
  })

  // Projects are CommonJS unless they say otherwise, and what a compiler writes for them hides its names from Node.js.
  it('gives the exports of a CommonJS module by their names, also where Node.js sees one default only', async () => {
    const greeter = await load('hidden.js', 'Object.defineProperty(module.exports, "Greeter", { enumerable: true, get: () => class Greeter {} })')
    expect(Object.keys(greeter)).to.deep.equal(['Greeter'])
    const both = await load('both.js', 'exports.Greeter = class Greeter {}\nexports.Other = class Other {}')
    expect(Object.keys(both).sort()).to.deep.equal(['Greeter', 'Other'])
    const main = await load('default.js', 'Object.assign(module.exports, { default: class Main {} })\nObject.defineProperty(module.exports, "__esModule", { value: true })')
    expect(main['default']).to.have.property('name', 'Main')
  })

  it('keeps a default that is no bag of exports', async () => {
    expect((await load('class.js', 'module.exports = class Main {}'))['default']).to.have.property('name', 'Main')
    expect((await load('made.mjs', 'export default new (class Made { greet() {} })()'))['default']).to.respondTo('greet')
  })
})
