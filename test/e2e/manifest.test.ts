import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { createManifest, readProject } from '../../lib/manifest/index.ts'
import { send } from '../unit/server/setup.ts'

interface Mounted {
  readonly data: Readonly<Record<string, string>>
}

interface Deployed {
  readonly spec: { readonly template: { readonly spec: PodSpec } }
}

interface PodSpec {
  readonly containers: readonly { readonly env: readonly { readonly name: string; readonly value?: string }[]; readonly readinessProbe: { readonly httpGet: { readonly path: string } } }[]
  readonly volumes: readonly { readonly configMap?: { readonly items: readonly { readonly key: string; readonly path: string }[] } }[]
}

/** Lays files out as the kubelet mounts a ConfigMap: links to a directory that is exchanged as a whole. */
async function mount(root: string, { data }: Mounted, volumes: PodSpec['volumes']): Promise<void> {
  const items = volumes.flatMap(({ configMap }) => configMap?.items ?? [])
  for (const { key, path } of items) {
    await mkdir(dirname(join(root, '..2026_01_31', path)), { recursive: true })
    await writeFile(join(root, '..2026_01_31', path), data[key] ?? '')
  }
  await symlink('..2026_01_31', join(root, '..data'))
  for (const name of new Set(items.map(({ path }) => path.split('/')[0] ?? path))) await symlink(join('..data', name), join(root, name))
}

describe('e2e: documents of sonatina manifest', () => {
  let root = ''
  beforeEach(async () => { root = await mkdtemp(join(tmpdir(), 'sonatina-mounted-')) })
  afterEach(() => rm(root, { recursive: true }))

  it('serves a project from its mounted ConfigMap, with variables in the place of its secrets', async () => {
    const project = await readProject({ root: 'test/fixtures/manifest/rates' })
    const { documents, secret } = createManifest(project, { image: 'sonatina:0.1.0' })
    const [configMap, deployment] = documents as unknown as readonly [Mounted, Deployed]
    const { containers, volumes } = deployment.spec.template.spec
    await mount(root, configMap, volumes)
    const remote = createServer((_request, response) => { response.setHeader('content-type', 'application/json').end('{"rate": 1.23456}') }).listen(0, '127.0.0.1')
    await once(remote, 'listening')
    const environment = {
      ...process.env,
      ...Object.fromEntries(containers[0]!.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
      ...Object.fromEntries((secret?.keys ?? []).map((name) => [name, 'given'])),
      SONATINA_SHUTDOWN_DELAY: '0',
    }
    const child = spawn(process.execPath, [
      '--import', 'tsx', 'lib/cli/main.ts', 'serve', root, '--host', '127.0.0.1', '--port', '0',
      '--set', `sonatina.rest-client.rates_yml.url=http://127.0.0.1:${String((remote.address() as AddressInfo).port)}`,
    ], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    try {
      const port = await new Promise<number>((resolve, reject) => {
        let text = ''
        child.stderr.on('data', (chunk: Buffer) => { text += chunk.toString('utf8') })
        child.stdout.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8')
          const found = /serves 1 workflow at http:\/\/127\.0\.0\.1:(\d+)\n/.exec(text)?.[1]
          if (found !== undefined) resolve(Number(found))
        })
        child.once('exit', () => { reject(new Error(text)) })
      })
      expect((await send(port, 'GET', containers[0]!.readinessProbe.httpGet.path)).status).to.equal(200)
      const { status, json } = await send(port, 'POST', '/rates', { body: {} })
      expect([status, (json as { workflowdata: unknown }).workflowdata]).to.deep.equal([201, { rate: 1.2346, source: 'function' }])
      expect((await readdir(root)).sort(), 'nothing was written').to.deep.equal(['..2026_01_31', '..data', 'application.properties', 'package.json', 'specs', 'workflows'])
    } finally {
      if (child.exitCode === null) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      remote.close()
    }
    expect(child.exitCode).to.equal(0)
  })
})
