import { expect } from 'chai'
import { createRuntime } from '../../../../lib/runtime.ts'
import { silentLogger } from '../../../../lib/common/index.ts'

const start = (settings: Readonly<Record<string, string>>): Promise<{ code: string; message: string }> =>
  createRuntime({ environment: {}, hostClasses: new Map(), definitions: [], log: silentLogger, settings: { 'sonatina.store': 'restate', ...settings } })
    .then(async (runtime) => { await runtime.close(0); return { code: '', message: '' } }, (error: unknown) => error as { code: string; message: string })

describe('hosts/restate: settings', () => {
  it('need the address of the engine', async () => {
    expect(await start({})).to.include({ code: 'CONFIGURATION_MISSING' }).and.have.property('message').that.contains('sonatina.restate.ingress-url')
  })

  it('name an address that is none', async () => {
    expect(await start({ 'sonatina.restate.ingress-url': 'somewhere' })).to.include({ code: 'CONFIGURATION_INVALID' })
    const listen = await start({ 'sonatina.restate.ingress-url': 'http://127.0.0.1:1', 'sonatina.restate.listen': 'here:99999' })
    expect(listen.message).to.contain('sonatina.restate.listen is "here:99999"')
  })

  it('let a front start while the engine is away: it is not ready', async () => {
    const runtime = await createRuntime({
      environment: {}, hostClasses: new Map(), definitions: [], log: silentLogger,
      settings: { 'sonatina.host.engine': 'restate', 'sonatina.restate.ingress-url': 'http://127.0.0.1:1', 'sonatina.restate.role': 'front' },
    })
    expect((await runtime.host.readiness()).ready).to.equal(false)
    await runtime.close(0)
    expect(await runtime.host.readiness()).to.deep.equal({ ready: false, reason: 'the host is closing' })
  })
})
