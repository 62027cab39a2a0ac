import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { validateCommand } from '../../../../lib/cli/commands/validate.ts'
import { createFakeIo, type FakeIo } from '../io.ts'

const good = { id: 'good', specVersion: '0.8', version: '1.0', start: 'A', states: [{ name: 'A', type: 'inject', data: { a: 1 }, end: true }] }
const bad = `{
  "id": "bad", "specVersion": "0.8", "version": "1.0", "start": "A",
  "functions": [{ "name": "f", "type": "expression", "operation": ".a |" }],
  "states": [
    { "name": "A", "type": "switch", "dataConditions": [{ "condition": "\${ .x === 1 }", "end": true }], "defaultCondition": { "end": true } }
  ]
}`

describe('cli/commands/validate', () => {
  let root = ''
  beforeEach(async () => { root = await mkdtemp(join(tmpdir(), 'sonatina-')) })
  afterEach(() => rm(root, { recursive: true }))
  const run = async (...args: string[]): Promise<[number, FakeIo]> => {
    const io = createFakeIo(root)
    return [await validateCommand(args, io), io]
  }

  it('finds nothing in a good file', async () => {
    await writeFile(join(root, 'good.sw.json'), JSON.stringify(good))
    const [rc, io] = await run('good.sw.json')
    expect([rc, io.errText()]).to.deep.equal([0, ''])
    expect(io.outText()).to.include('1 definition valid, 0 not')
  })

  it('lists every bad expression with file, line, column, caret and pointer, and goes on to other files', async () => {
    await writeFile(join(root, 'good.sw.json'), JSON.stringify(good))
    await writeFile(join(root, 'bad.sw.json'), bad)
    await writeFile(join(root, 'worse.sw.yaml'), 'id: worse\nspecVersion: "0.8"\nstart: Nowhere\nstates:\n  - name: A\n    type: inject\n    data: {}\n    transition: B\n')
    const [rc, io] = await run('.')
    expect(rc).to.equal(1)
    const text = io.errText()
    expect(text).to.match(/bad\.sw\.json:3:\d+: .*\(at \/functions\/0\/operation\)\n.*"\.a \|".*\n +\^/)
    expect(text).to.match(/bad\.sw\.json:5:\d+: unexpected "=" \(at \/states\/0\/dataConditions\/0\/condition\)\n.*\n +\^\n {4}hint: for equality write ==/)
    expect(text).to.match(/worse\.sw\.yaml:3:\d+: .*Nowhere[\s\S]*hint:/)
    expect(text).to.match(/worse\.sw\.yaml:8:\d+: .*\bB\b/)
    expect(io.outText()).to.include('1 definition valid, 2 not')
  })

  it('counts every version of a definition, and tells the warnings of each', async () => {
    const unused = { name: 'f', type: 'expression', operation: '.' }
    await writeFile(join(root, 'one.sw.json'), JSON.stringify({ ...good, version: '1.0', functions: [unused] }))
    await writeFile(join(root, 'two.sw.json'), JSON.stringify({ ...good, version: '2.0', functions: [unused] }))
    const [, io] = await run('.')
    expect(io.outText()).to.include('one.sw.json:1: warning: f of functions').and.include('two.sw.json:1: warning: f of functions')
    expect(io.outText()).to.include('2 definitions valid, 0 not, 2 warnings')
  })

  it('tells that there is no definition', async () => {
    const [rc, io] = await run('.')
    expect([rc, io.errText()]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.startsWith('There is no definition'))
  })

  it('tells that a file is not there', async () => {
    const [rc, io] = await run('nothing.sw.json')
    expect(rc).to.equal(1)
    expect(io.errText()).to.include('nothing.sw.json')
  })

  // Its documents and host modules are looked for from where it is served.
  it('checks a directory that is a project as it would be served', async () => {
    const withSchema = { ...good, dataInputSchema: 'specs/input.json' }
    for (const path of ['shop/workflows', 'shop/specs']) await mkdir(join(root, path), { recursive: true })
    await writeFile(join(root, 'shop/workflows/good.sw.json'), JSON.stringify(withSchema))
    await writeFile(join(root, 'shop/specs/input.json'), '{ "type": "object" }')
    const [rc, io] = await run('shop')
    expect([rc, io.errText()]).to.deep.equal([0, ''])
    await writeFile(join(root, 'shop/workflows/broken.mjs'), 'export class {')
    expect(await run('shop').then(() => undefined, (error: unknown) => error)).to.have.property('message').that.includes('broken.mjs')
  })

  it('tells sub-flows that are not there, unless files were named one by one', async () => {
    const parent = { ...good, id: 'parent', states: [{ name: 'A', type: 'operation', actions: [{ subFlowRef: 'child' }], end: true }] }
    await writeFile(join(root, 'parent.sw.json'), JSON.stringify(parent))
    const [, whole] = await run('.')
    expect(whole.outText()).to.include('parent.sw.json:1: warning: workflow child is not loaded').and.include('1 warning')
    const [rc, part] = await run('parent.sw.json', '--strict')
    expect([rc, part.outText()]).to.deep.equal([0, '1 definition valid, 0 not, 0 warnings.'])
  })

  it('tells settings of a project that no definition of it uses', async () => {
    await mkdir(join(root, 'workflows'))
    await writeFile(join(root, 'workflows/good.sw.json'), JSON.stringify(good))
    await writeFile(join(root, 'application.properties'), 'sonatina.rest-client.shop_yml.url=http://127.0.0.1:1\n')
    const [rc, io] = await run('.', '--strict')
    expect(io.outText()).to.include('warning: No definition uses the document "shop_yml" of sonatina.rest-client.shop_yml.*; none is used').and.include('1 warning')
    expect(rc).to.equal(1)
    const [, part] = await run('workflows/good.sw.json')
    expect(part.outText()).to.include('0 warnings')
  })

  it('tells that a project is not there', async () => {
    expect(await run('good.sw.json', '--root', 'none').then(() => undefined, (error: unknown) => error)).to.have.property('message', '"none" is no directory here')
  })

  it('wants a file', async () => {
    expect(await run().then(() => undefined, (error: unknown) => error)).to.have.property('message', 'no file or directory is named')
  })
})
