import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { manifestCommand } from '../../../../lib/cli/commands/manifest.ts'
import { UsageError } from '../../../../lib/cli/usage.ts'
import { createFakeIo, type FakeIo } from '../io.ts'

describe('cli/commands/manifest', () => {
  const run = async (...args: string[]): Promise<[number, FakeIo]> => {
    const io = createFakeIo('test/fixtures/manifest')
    return [await manifestCommand(args, io), io]
  }

  it('prints the documents, and on the other stream what needs care', async () => {
    const [code, io] = await run('rates', '--image', 'registry.example.org/sonatina:0.1.0', '--namespace', 'flows', '--replicas', '3')
    expect(code).to.equal(0)
    expect(`${io.outText()}\n`).to.equal(await readFile('test/golden/manifest/memory.yaml', 'utf8'))
    expect(io.errText()).to.match(/^warning: quarkus\.oidc-client\.rates_oauth/)
  })

  it('takes every option', async () => {
    const [, io] = await run('orders', '--image', 'a:1', '--name', 'shop', '--storage', 'sqlite', '--storage-size', '2Gi', '--eventing', '--broker', 'b', '--istio', '--embedded', '-Dsonatina.http.port=81', '--profile', 'staging')
    for (const text of ['name: shop', 'storage: 2Gi', 'name: b', 'sidecar.istio.io/inject: "true"', 'containerPort: 81', 'value: staging']) expect(io.outText()).to.contain(text)
    expect(io.outText()).not.to.contain('ConfigMap')
  })

  it('tells how it is called', async () => {
    const [code, io] = await run('--help')
    expect([code, io.outText().includes('--image IMAGE')]).to.deep.equal([0, true])
    const wrong: readonly (readonly [readonly string[], string])[] = [
      [[], '--image is missing'],
      [['none', '--image', 'a'], '"none" is no directory'],
      [['rates', 'orders', '--image', 'a'], 'one project directory at a time'],
      [['rates', '--image', 'a', '--storage', 'disk'], 'none of memory, sqlite, restate'],
      [['rates', '--image', 'a', '--replicas', 'many'], '--replicas many is no number'],
      [['rates', '--imgae', 'a'], '--image'],
    ]
    for (const [args, message] of wrong) {
      const caught = await run(...args).catch((error: unknown) => error)
      expect(caught, message).to.be.instanceOf(UsageError).with.property('message').that.contains(message)
    }
  })
})
