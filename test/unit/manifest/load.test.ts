import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { ConfigurationError, DefinitionError } from '../../../lib/errors/index.ts'
import { readProject, type Project } from '../../../lib/manifest/index.ts'

const PLAIN = { id: 'plain', version: '1.0', specVersion: '0.8', start: 'A', states: [{ name: 'A', type: 'inject', data: { a: 1 }, end: true }] }

describe('manifest: reading a project', () => {
  let root = ''
  beforeEach(async () => { root = await mkdtemp(join(tmpdir(), 'sonatina-project-')) })
  afterEach(() => rm(root, { recursive: true }))

  async function read(files: Readonly<Record<string, string>>, options: { profile?: string; arguments?: readonly string[] } = {}): Promise<Project> {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), text)
    }
    return readProject({ root, ...options })
  }

  const failure = (files: Readonly<Record<string, string>>): Promise<unknown> => read(files).catch((error: unknown) => error)
  const withSettings = (...lines: readonly string[]): Record<string, string> => ({ 'plain.sw.json': JSON.stringify(PLAIN), 'application.properties': lines.join('\n') })

  it('takes what is served, and nothing else', async () => {
    const { files } = await read({
      'plain.sw.json': JSON.stringify(PLAIN),
      'greeter.js': 'export const greeter = {}\n',
      'greeter.test.js': 'x',
      'notes.md': 'x',
      'package-lock.json': '{}',
      '.env': 'PASSWORD=swordfish',
      'node_modules/a/a.sw.json': JSON.stringify(PLAIN),
      'application.properties': 'a=1\n',
      'application-dev.properties': 'b=1\n',
    })
    expect(files.map(({ path }) => path)).to.deep.equal(['application.properties', 'greeter.js', 'plain.sw.json'])
    expect(files[0]?.text).to.equal('a=1\nsonatina.profile=spec\n')
  })

  it('reads a SonataFlow project', async () => {
    const { files, storage, serving } = await read({
      'src/main/resources/plain.sw.json': JSON.stringify({ ...PLAIN, functions: [{ name: 'f', operation: 'specs/a.yml#f' }] }),
      'src/main/resources/specs/a.yml': 'openapi: 3.0.3\n',
      'src/main/resources/specs/b.json': '{}',
      'src/main/resources/application.properties': 'quarkus.http.root-path=/api\nkogito.persistence.type=jdbc\nquarkus.shutdown.timeout=1m\n%dev.quarkus.http.port=1\n',
    })
    expect(files.map(({ path }) => path)).to.deep.equal(['application.properties', ...['plain.sw.json', 'specs/a.yml', 'specs/b.json'].map((name) => `src/main/resources/${name}`)])
    expect(storage).to.equal('sqlite')
    expect(serving).to.deep.include({ rootPath: '/api', port: 8080, shutdownTimeout: 60_000 })
  })

  it('follows the imports of host modules, and tells packages that are missing', async () => {
    const { files, warnings } = await read({
      'workflows/plain.sw.json': JSON.stringify(PLAIN),
      'workflows/a.ts': "import type { X } from 'types-only'\nimport { b } from '../shared/b.js'\nimport { defineFunction } from 'sonatina'\nimport fs from 'fs'\nexport const a = [b, fs, defineFunction, await import('@scope/used/deep')]\n",
      'shared/b.ts': "export { c as b } from './c.mjs'\n",
      'shared/c.mjs': 'export const c = 1\n',
      'package.json': '{"type":"module"}',
    })
    expect(files.map(({ path }) => path)).to.include.members(['package.json', 'shared/b.ts', 'shared/c.mjs', 'workflows/a.ts'])
    expect(warnings).to.deep.equal(['workflows/a.ts imports the package @scope/used, which is no part of the documents; build an image that has it, and give --embedded'])
  })

  it('tells files, health checks and secrets that need care', async () => {
    const { warnings, serving } = await read(withSettings(
      'sonatina.http.ssl.certificate.files=tls.crt',
      'sonatina.http.ssl.client-auth=required',
      'sonatina.http.auth.permission.all.paths=/*',
      'sonatina.http.auth.permission.all.policy=authenticated',
      'sonatina.oidc-client.a.credentials.secret=swordfish',
    ))
    expect(serving).to.include({ probe: 'tcp', isTls: true })
    const text = warnings.join('\n')
    expect(text).to.contain('sonatina.http.ssl.certificate.files names tls.crt').and.to.contain('covers /q/health/ready').and.to.contain('credentials.secret stands in a file')
    expect(text).not.to.contain('swordfish')
    const { warnings: none } = await read(withSettings(
      'sonatina.http.auth.permission.all.paths=/*',
      'sonatina.http.auth.permission.all.policy=authenticated',
      'sonatina.http.auth.permission.health.paths=/q/health/*',
      'sonatina.http.auth.permission.health.policy=permit',
    ))
    expect(none).to.deep.equal([])
  })

  it('lets options win over the files', async () => {
    const { serving } = await read(withSettings('sonatina.http.port=1'), { arguments: ['sonatina.http.port=2'] })
    expect(serving.port).to.equal(2)
  })

  it('refuses what cannot be served, with its reason', async () => {
    expect(await failure({ 'workflows/broken.sw.json': '{"id": 1}' })).to.be.instanceOf(DefinitionError)
    const refusals: readonly (readonly [Record<string, string>, string])[] = [
      [withSettings('sonatina.http.port=0', 'sonatina.definitions=plain.sw.json'), 'sonatina.http.port=0 takes any free port'],
      [withSettings('sonatina.http.port=${PORT_OF_SHOP}', 'sonatina.definitions=plain.sw.json'), '${PORT_OF_SHOP} is not set'],
      [withSettings('sonatina.definitions=none'), 'none'],
    ]
    for (const [files, message] of refusals) {
      const caught = await failure(files)
      expect(caught, message).to.be.instanceOf(Error).with.property('message').that.contains(message)
    }
  })

  it('refuses an empty directory, and files that are no text or lie elsewhere', async () => {
    const empty = await failure({})
    expect(empty).to.be.instanceOf(ConfigurationError)
    expect((empty as Error).message).to.contain('no definition in the project directory')
    const elsewhere = await mkdtemp(join(tmpdir(), 'sonatina-elsewhere-'))
    try {
      await writeFile(join(elsewhere, 'other.sw.json'), JSON.stringify({ ...PLAIN, id: 'other' }))
      const outside = await failure({ 'plain.sw.json': JSON.stringify(PLAIN), 'application.properties': `sonatina.definitions=plain.sw.json,${join(elsewhere, 'other.sw.json')}` })
      expect((outside as Error).message).to.contain('lies outside of its directory')
    } finally {
      await rm(elsewhere, { recursive: true })
    }
    await writeFile(join(root, 'helper.js'), Uint8Array.of(0xff, 0xfe, 0x00))
    expect((await failure({ 'application.properties': '' }) as Error).message).to.contain('helper.js cannot be taken along')
  })

  const WEATHER = { 'workflows/plain.sw.json': JSON.stringify({ ...PLAIN, functions: [{ name: 'f', type: 'rest', operation: 'specs/w.yml#f' }] }), 'specs/w.yml': 'openapi: 3.0.3\n' }

  // What is printed goes to a cluster: a link must not take a file of whoever prints it along.
  it('takes nothing along that a link leads to outside of the project', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'sonatina-elsewhere-'))
    try {
      await writeFile(join(elsewhere, 'secret.yml'), 'password: swordfish\n')
      await read(WEATHER)
      await symlink(join(elsewhere, 'secret.yml'), join(root, 'specs', 'mine.yml'))
      expect((await failure({}) as Error).message).to.equal('specs/mine.yml is read by the project but lies outside of its directory; move it into the project')
      await rm(join(root, 'specs', 'mine.yml'))
      await symlink(elsewhere, join(root, 'specs', 'all'))
      expect((await failure({}) as Error).message).to.contain('specs/all/secret.yml is read by the project but lies outside')
    } finally {
      await rm(elsewhere, { recursive: true })
    }
  })

  it('comes to an end with links that lead back, and reads regular files only', async () => {
    await read(WEATHER)
    for (const name of ['up', 'again']) await symlink('..', join(root, 'specs', name))
    for (const name of ['me', 'also']) await symlink('../specs', join(root, 'specs', name))
    await symlink('nowhere.yml', join(root, 'specs', 'dangling.yml'))
    if (process.platform !== 'win32') for (const name of ['specs/pipe.yml', 'workflows/pipe.sw.json']) execFileSync('mkfifo', [join(root, name)])
    const paths = (await readProject({ root })).files.map(({ path }) => path)
    expect(paths).to.include.members(['application.properties', 'specs/w.yml', 'workflows/plain.sw.json'])
    expect(paths.length).to.be.at.most(5)
  }).timeout(5000)

  it('reads a project through links, as a mounted ConfigMap has them', async () => {
    const { files } = await read({ '..data/plain.sw.json': JSON.stringify(PLAIN), '..data/helper.js': 'export const helper = {}\n' }).catch(() => ({ files: [] }))
    expect(files).to.deep.equal([])
    for (const name of ['plain.sw.json', 'helper.js']) await symlink(join('..data', name), join(root, name))
    expect((await readProject({ root })).files.map(({ path }) => path)).to.deep.equal(['application.properties', 'helper.js', 'plain.sw.json'])
  })
})
