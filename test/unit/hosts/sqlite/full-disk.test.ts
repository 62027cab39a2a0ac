import { expect } from 'chai'
import { randomBytes } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../../lib/hosts/sqlite/index.ts'
import type { Runtime } from '../../../../lib/runtime-options.ts'
import { createDurableProject, type DurableProject } from '../../../support/durable-runtime.ts'
import { createSmallDisk, type SmallDisk } from '../../../support/small-disk.ts'
import { call, definition, event, WAIT } from '../durable-definitions.ts'

const MEGABYTE = 1_048_576

describe('durability, promise "disk full: 503 with Retry-After, nothing half written, readiness down"', function () {
  this.timeout(60_000)
  let disk: SmallDisk
  let project: DurableProject
  let runtime: Runtime | undefined
  let url: string

  beforeEach(async function () {
    const mounted = createSmallDisk(2 * MEGABYTE)
    if (mounted === undefined) this.skip()
    disk = mounted
    project = await createDurableProject({
      definitions: [definition('wait', [{ name: 'Call', type: 'operation', actions: [call({ arguments: { order: '${ .order }' } })], transition: 'Wait' }, WAIT])],
      settings: { 'sonatina.store.sqlite.file': join(disk.directory, 'store.db') },
    })
  })
  afterEach(async () => {
    await runtime?.close(0).catch(() => undefined)
    runtime = undefined
    await (project as DurableProject | undefined)?.remove()
    ;(disk as SmallDisk | undefined)?.remove()
  })

  const open = async (): Promise<Runtime> => {
    runtime = await project.open()
    url = (await runtime.listen({ host: '127.0.0.1', port: 0 })).url
    return runtime
  }
  const start = (order: string): Promise<Response> => fetch(`${url}/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order, ballast: randomBytes(8000).toString('hex') }),
  })
  const readiness = async (): Promise<number> => (await fetch(`${url}/q/health/ready`)).status

  /** Starts until one is refused; gives the orders that were accepted, and the refusal. */
  const startUntilRefused = async (prefix: string): Promise<{ accepted: string[]; refused: Response; order: string }> => {
    const accepted: string[] = []
    for (let number = 0; number < 1000; number += 1) {
      const order = `${prefix}${String(number)}`
      const answer = await start(order)
      if (answer.status !== 201) return { accepted, refused: answer, order }
      await answer.text()
      accepted.push(order)
    }
    throw new Error('the disk did not fill up')
  }
  const orders = async ({ host }: Runtime): Promise<string[]> =>
    (await host.list({ limit: 1000 })).instances.map(({ data }) => (data as { order: string }).order).reverse()

  it('holds on a real small disk, and all goes on by itself when there is room again', async () => {
    const { host } = await open()
    expect((await start('first')).status).to.equal(201)
    disk.fill()
    const { accepted, refused, order } = await startUntilRefused('a')
    expect(refused.status).to.equal(503)
    expect(Number(refused.headers.get('retry-after'))).to.be.greaterThan(0)
    expect(await refused.json()).to.include({ code: 'STORE_UNAVAILABLE' }).and.to.have.property('message').that.contains('the disk is full')
    expect(await readiness()).to.equal(503)
    expect((await start('while-full')).status).to.equal(503)
    const delivery = await host.deliver(event('go', 'first')).catch((error: unknown) => error as { code: string })
    expect(delivery).to.have.property('code', 'STORE_UNAVAILABLE')
    // Nothing that was refused has had an effect.
    expect(project.calls.filter((given) => [order, 'while-full'].includes((given as { order: string }).order))).to.deep.equal([])
    project.clock.advance(5000)
    expect(await readiness(), 'tried again, and still full').to.equal(503)
    disk.empty()
    project.clock.advance(1000)
    await runtime?.quiet()
    expect(await readiness()).to.equal(200)
    expect(await orders(runtime as Runtime)).to.deep.equal(['first', ...accepted])
    expect((await start(order)).status).to.equal(201)
    expect((await host.deliver(event('go', 'first'))).instances).to.have.length(accepted.length + 2)
    expect(await orders(runtime as Runtime)).to.deep.equal([])
    expect(project.calls).to.have.length(accepted.length + 2)
  })

  it('leaves a sound store to a process that ends while it is full', async () => {
    const full = await open()
    const { accepted, refused } = await startUntilRefused('a')
    // The disk may fill up when an instance has begun: its caller is told which.
    const { processInstanceId: begun, message } = await refused.json() as { processInstanceId?: string; message: string }
    if (begun !== undefined) expect(message).to.contain(`Instance ${begun} has begun`)
    await full.close(0)
    runtime = undefined
    const store = openStore(join(disk.directory, 'store.db'), 0)
    expect(store.verify()).to.deep.equal([])
    store.close()
    const next = await open()
    expect((await orders(next)).length).to.equal(accepted.length + (begun === undefined ? 0 : 1))
    const again = await start('more')
    expect([201, 503]).to.include(again.status)
  })

  it('is told by name when it is full at the start, and the store is left as it was', async () => {
    const first = await open()
    expect((await start('first')).status).to.equal(201)
    await first.close(0)
    runtime = undefined
    disk.fill()
    const failed = await project.open().catch((error: unknown) => error as { code?: string; message: string })
    if ('host' in failed) {
      // It could be opened without any room: then it serves what it has.
      runtime = failed
      expect(await orders(failed)).to.deep.equal(['first'])
      await failed.close(0)
      runtime = undefined
    } else expect(failed).to.include({ code: 'STORE_UNAVAILABLE' })
    disk.empty()
    const next = await open()
    expect(await orders(next)).to.deep.equal(['first'])
  })

  it('holds for a store on a disk that is read-only: it is refused by name, and nothing of it is lost', async () => {
    const elsewhere = await project.open({ settings: { 'sonatina.store.sqlite.file': project.file } })
    await elsewhere.host.start({ workflowId: 'wait', input: { order: 'first' } })
    await elsewhere.close(0)
    copyFileSync(project.file, join(disk.directory, 'store.db'))
    disk.allowWriting(false)
    const failed = await project.open().catch((error: unknown) => error as { code?: string; message: string })
    expect(failed).to.include({ code: 'STORE_UNAVAILABLE' })
    disk.allowWriting(true)
    expect(await orders(await open())).to.deep.equal(['first'])
  })

  it('names a directory that cannot be written at the start', async () => {
    disk.allowWriting(false)
    const failed = await project.open().catch((error: unknown) => error as { code?: string; message: string })
    expect(failed).to.include({ code: 'STORE_UNAVAILABLE' })
    expect((failed as Error).message).to.contain(disk.directory)
  })
})
