import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { devCommand, serve } from '../../../../lib/cli/commands/serve.ts'
import { ConfigurationError } from '../../../../lib/errors/index.ts'
import type { Runtime, RuntimeOptions } from '../../../../lib/runtime-options.ts'
import { brokenFile, createFakeCatalogue, fakeDefinition } from '../../../support/fake-host.ts'
import { createFakeIo } from '../io.ts'

describe('cli/commands/serve', () => {
  let root = ''
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'sonatina-'))
    await writeFile(join(root, 'a.sw.json'), '{}')
  })
  after(() => rm(root, { recursive: true }))

  const run = async (args: string[], listen: () => Promise<{ url: string }> = () => Promise.resolve({ url: 'http://127.0.0.1:8080' })): Promise<{ rc: number; options: RuntimeOptions; out: string; err: string; closed: number }> => {
    const io = createFakeIo(root)
    const catalogue = createFakeCatalogue([fakeDefinition('hello'), fakeDefinition('a b')])
    catalogue.fail(brokenFile('bad.sw.json'))
    let options: RuntimeOptions = {}
    let closed = 0
    const running = serve(args, io, (given) => {
      options = given
      return Promise.resolve({ catalogue, listen, close: () => { closed++; return Promise.resolve() } } as unknown as Runtime)
    })
    io.stop()
    return { rc: await running, options, out: io.outText(), err: io.errText(), closed }
  }

  it('tells the addresses, names broken definitions, and stops when asked to', async () => {
    const { rc, out, err, closed } = await run([])
    expect(rc).to.equal(0)
    expect(out).to.include('Sonatina serves 2 workflows at http://127.0.0.1:8080').and.include('http://127.0.0.1:8080/a%20b').and.include('http://127.0.0.1:8080/q/openapi').and.include('Stopping')
    expect(err).to.include('bad.sw.json: it has no states')
    expect(closed).to.equal(1)
  })

  it('hands options on as settings', async () => {
    await writeFile(join(root, 's.properties'), 'c=3\n')
    const { options } = await run(['--host', '0.0.0.0', '--port', '0', '--profile', 'dev', '--set', 'a=1', '-Db=2', '--strict', '--settings', 's.properties'])
    expect(options).to.deep.equal({
      root, profile: 'dev', strict: true, arguments: ['a=1', 'b=2', 'sonatina.http.host=0.0.0.0', 'sonatina.http.port=0'], settingsFiles: [join(root, 's.properties')],
    })
  })

  it('takes one directory as the project, files and several places as definitions', async () => {
    expect((await run(['.'])).options).to.deep.include({ root })
    expect((await run(['a.sw.json'])).options).to.deep.include({ root, definitions: [join(root, 'a.sw.json')] })
    expect((await run(['.', 'a.sw.json'])).options).to.deep.include({ root, definitions: [root, join(root, 'a.sw.json')] })
  })

  for (const args of [['nowhere'], ['--port', 'x'], ['--port', '70000'], ['--set', 'x'], ['--unknown']]) {
    it(`refuses ${args.join(' ')}`, async () => {
      expect(await run(args).then(() => undefined, (error: unknown) => error)).to.have.property('code', 'REQUEST_INVALID')
    })
  }

  it('closes what was opened when it cannot listen', async () => {
    const error = new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: 'taken' })
    let closed = 0
    const create = (): Promise<Runtime> => Promise.resolve({ catalogue: createFakeCatalogue(), listen: () => Promise.reject(error), close: () => { closed++; return Promise.resolve() } } as unknown as Runtime)
    expect(await serve([], createFakeIo(root), create).then(() => undefined, (thrown: unknown) => thrown)).to.equal(error)
    expect(closed).to.equal(1)
  })

  it('answers --help', async () => {
    const io = createFakeIo(root)
    expect(await devCommand(['--help'], io)).to.equal(0)
    expect(io.outText()).to.include('--profile NAME')
  })
})
