import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { createRandomIdSource, silentLogger, type Logger } from '../../lib/common/index.ts'
import { createSettings } from '../../lib/configuration/index.ts'
import { openTenancy, type TenancyPart } from '../../lib/runtime-mounts.ts'
import { createVirtualClock, type VirtualClock } from '../support/clock.ts'

const policy = (name: string, action = 'ALLOW'): string =>
  `apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: { name: ${name}, namespace: shop }\nspec: { action: ${action}, rules: [{}] }\n`

describe('runtime-mounts: policies of tenants', () => {
  let root = ''
  let clock: VirtualClock
  let errors: string[]
  let part: TenancyPart | undefined

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'sonatina-'))
    clock = createVirtualClock()
    errors = []
    part = undefined
  })
  afterEach(async () => {
    part?.close()
    await rm(root, { recursive: true })
  })

  async function open(settings: Readonly<Record<string, unknown>> = {}): Promise<TenancyPart | undefined> {
    const log: Logger = { ...silentLogger, error: (_fields, message) => { errors.push(message) }, child: () => log }
    const read = await createSettings({
      root,
      environment: {},
      settings: { 'sonatina.tenancy.documents': 'policy.yaml', 'sonatina.tenancy.namespace': 'shop', 'sonatina.tenancy.mode': 'permissive', ...settings },
    })
    part = await openTenancy({ settings: read, root, clock, ids: createRandomIdSource(), log })
    return part
  }

  /** Writes the file, waits until the change was seen, and lets the pause behind it pass. */
  async function change(text: string): Promise<void> {
    await writeFile(join(root, 'policy.yaml'), text)
    while (clock.pending === 0) await setImmediate()
    clock.advance(1000)
  }

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await setImmediate()
  }

  it('are none without documents', async () => {
    expect(await open({ 'sonatina.tenancy.documents': '' })).to.equal(undefined)
  })

  it('need the namespace of the workload', async () => {
    await writeFile(join(root, 'policy.yaml'), policy('a'))
    const error = await open({ 'sonatina.tenancy.namespace': '' }).catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'CONFIGURATION_MISSING')
  })

  it('stop the start when a file does not parse: it may be the one that denies', async () => {
    await writeFile(join(root, 'policy.yaml'), `${policy('a')}---\n${policy('b', 'DENY')}  broken: [\n`)
    const error = await open().catch((caught: unknown) => caught)
    expect(error).to.have.property('code', 'TENANCY_INVALID')
    expect(error).to.have.property('message').that.includes('policy.yaml')
  })

  it('follow their files where that is asked for', async () => {
    await writeFile(join(root, 'policy.yaml'), policy('a'))
    const tenancy = await open({ 'sonatina.tenancy.watch': 'true' })
    expect(tenancy?.enforcer.status()).to.deep.equal({ state: 'current', policies: 1 })
    await change(`${policy('a')}---\n${policy('b')}`)
    await until(() => tenancy?.enforcer.status().policies === 2)
  })

  it('stay in force when the new ones are invalid or do not parse', async () => {
    await writeFile(join(root, 'policy.yaml'), policy('a'))
    const tenancy = await open({ 'sonatina.tenancy.watch': 'true' })
    await change(policy('b', 'PERHAPS'))
    await until(() => errors.length === 1)
    expect(tenancy?.enforcer.status()).to.include({ state: 'stale', policies: 1 })
    await change('a: [')
    await until(() => errors.length === 2)
    expect(tenancy?.enforcer.status()).to.include({ policies: 1 })
    expect(errors).to.deep.equal(['the new policies are invalid; the ones before stay in force', 'the new policies cannot be read; the ones before stay in force'])
  })

  it('are not watched by default, and leave nothing open', async () => {
    await writeFile(join(root, 'policy.yaml'), policy('a'))
    const tenancy = await open()
    await writeFile(join(root, 'policy.yaml'), policy('b'))
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    tenancy?.close()
    expect(clock.pending).to.equal(0)
  })
})
