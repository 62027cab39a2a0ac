import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeCommand } from '../../../lib/cli/commands/store.ts'
import type { CommandIo } from '../../../lib/cli/io.ts'
import { UsageError } from '../../../lib/cli/usage.ts'
import { createDurableProject, type DurableProject } from '../../support/durable-runtime.ts'

const SLEEP = {
  uri: 'sleep.sw.json',
  document: { id: 'sleep', version: '1', specVersion: '0.8', states: [{ name: 'Sleep', type: 'sleep', duration: 'PT1H', end: true }] },
}

describe('cli: store', () => {
  let project: DurableProject
  beforeEach(async () => {
    project = await createDurableProject({ definitions: [SLEEP] })
    const runtime = await project.open()
    await runtime.host.start({ workflowId: 'sleep', input: { n: 1 } })
    await runtime.close(0)
  })
  afterEach(() => project.remove())

  const run = async (...args: readonly string[]): Promise<{ code: number; out: string[]; err: string[] }> => {
    const out: string[] = []
    const err: string[] = []
    const io: CommandIo = {
      out: (line) => { out.push(line) },
      err: (line) => { err.push(line) },
      read: () => Promise.resolve(''),
      cwd: project.directory,
      stopped: () => Promise.resolve('SIGTERM'),
    }
    return { code: await storeCommand(args, io), out, err }
  }

  it('tells what a store holds', async () => {
    const { code, out } = await run('info', '--json')
    expect(code).to.equal(0)
    expect(JSON.parse(out.join('\n'))).to.include({ file: project.file, schemaVersion: 3, timers: 1, outgoing: 0, definitions: 1 }).and.to.have.deep.property('instances', { waiting: 1 })
    expect((await run('info')).out).to.include('instances waiting: 1')
  })

  it('exports a store, and makes an equal one of the export that goes on', async () => {
    expect((await run('export', 'backup.jsonl')).out[0]).to.match(/^\d+ rows written to backup\.jsonl$/)
    const file = join(project.directory, 'other.db')
    expect((await run('import', 'backup.jsonl', '--file', file)).code).to.equal(0)
    expect((await run('verify', '--file', file)).out).to.deep.equal(['the store is sound'])
    const runtime = await project.open({ settings: { 'sonatina.store.sqlite.file': file } })
    project.clock.advance(3_600_000)
    await runtime.quiet()
    expect((await runtime.host.list({ limit: 9 })).instances).to.deep.equal([])
    await runtime.close(0)
  })

  it('tells that a file cannot be read or written', async () => {
    const failure = (...args: readonly string[]): Promise<unknown> => run(...args).then(() => undefined, (error: unknown) => error)
    expect(await failure('import', 'none.jsonl', '--file', 'other.db')).to.be.instanceOf(UsageError).with.property('message').that.matches(/^none\.jsonl cannot be read/)
    expect(await failure('export', 'none/backup.jsonl')).to.be.instanceOf(UsageError).with.property('message').that.matches(/^none\/backup\.jsonl cannot be written/)
    expect(await failure('info', '--root', 'none')).to.be.instanceOf(UsageError).with.property('message', '"none" is no directory here')
  })

  it('leaves nothing behind when an import fails, and writes over nothing', async () => {
    writeFileSync(join(project.directory, 'bad.jsonl'), '{"table":"nothing","row":{"a":1}}\n')
    const file = join(project.directory, 'other.db')
    const refused = await run('import', 'bad.jsonl', '--file', file).catch((error: unknown) => error as Error)
    expect(String(refused)).to.contain('no line of an export')
    expect(() => readFileSync(file)).to.throw()
    const existing = await run('import', 'bad.jsonl', '--file', project.file).catch((error: unknown) => error as Error)
    expect(String(existing)).to.contain('exists already')
  })

  it('gives space back, and finds what does not fit', async () => {
    expect((await run('vacuum')).out[0]).to.match(/^\d+ bytes before, \d+ after$/)
    expect((await run('verify')).code).to.equal(0)
  })

  it('is refused while a service has the store open, and for a wrong command', async () => {
    const runtime = await project.open()
    expect(String(await run('info').catch((error: unknown) => error))).to.contain('in use by')
    await runtime.close(0)
    expect(String(await run('look').catch((error: unknown) => error))).to.contain('info, export, import, vacuum and verify')
  })
})
