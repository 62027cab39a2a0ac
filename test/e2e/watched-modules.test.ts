import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { silentLogger, type Logger } from '../../lib/common/index.ts'
import { createRuntime } from '../../lib/runtime.ts'
import { until } from '../support/serve-process.ts'

const PLAIN = { id: 'plain', version: '1.0', specVersion: '0.8', start: 'A', states: [{ name: 'A', type: 'inject', data: { a: 1 }, end: true }] }

describe('e2e: files that change while they are served', () => {
  let root = ''
  beforeEach(async () => { root = await mkdtemp(join(tmpdir(), 'sonatina-watched-')) })
  afterEach(() => rm(root, { recursive: true }))

  it('are told when the process goes on with host classes as they were', async () => {
    const lines: string[] = []
    const note = (_fields: object, message: string): void => { lines.push(message) }
    const log: Logger = { ...silentLogger, info: note, warn: note, child: () => log }
    await writeFile(join(root, 'plain.sw.json'), JSON.stringify(PLAIN))
    await writeFile(join(root, 'worker.mjs'), 'export class Worker {}')
    const runtime = await createRuntime({ root, log, environment: {}, settings: { 'sonatina.store': 'memory', 'sonatina.definitions.watch': 'true' } })
    try {
      await writeFile(join(root, 'plain.sw.json'), JSON.stringify({ ...PLAIN, version: '1.1' }))
      await until(() => (lines.includes('definitions were loaded again') || undefined))
      expect(lines.filter((line) => line.startsWith('host classes'))).to.deep.equal([])
      await utimes(join(root, 'worker.mjs'), 1, 1)
      expect(await until(() => lines.find((line) => line.startsWith('host classes')))).to.contain('start the service again')
    } finally {
      await runtime.close(0)
    }
  }).timeout(20_000)
})
