import { expect } from 'chai'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DefinitionError } from '../../../../lib/errors/index.ts'
import type { FunctionScope, Invoker } from '../../../../lib/functions/index.ts'
import { callOf, createTestCompiler, noAuthorizer, respond, startRecordingServer, type RecordingServer } from '../support.ts'

const get = (id: string, more = ''): string => `get: { operationId: '${id}', responses: {} ${more} }`
const openapi = (paths: string, rest = ''): string => `openapi: 3.0.3\ninfo: { title: Some Title, version: '1' }\n${rest}paths:\n${paths}\n`

describe('functions/openapi: documents', () => {
  let directory: string
  let outside: string
  let server: RecordingServer
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true })
    await writeFile(path.join(directory, name), text)
  }
  before(async () => {
    const base = await mkdtemp(path.join(tmpdir(), 'sonatina-documents-'))
    directory = path.join(base, 'project')
    outside = path.join(base, 'secret.yaml')
    await mkdir(directory)
    await writeFile(outside, openapi(`  /x: { ${get('x')} }`))
    server = await startRecordingServer()
  })
  after(async () => {
    await server.close()
    await rm(path.dirname(directory), { recursive: true })
  })

  beforeEach(() => { server.answer = (_request, response) => { respond(response, 200, {}) } })

  async function compile(operation: string, { config = {}, scope = {} }: { config?: Record<string, unknown>; scope?: Partial<FunctionScope> } = {}): Promise<Invoker> {
    await using compiler = await createTestCompiler({ root: directory, config })
    return await compiler.compile({ type: 'rest', operation }, { base: path.join(directory, 'workflows', 'w.sw.json'), ...scope })
  }
  async function refusal(operation: string, options: Parameters<typeof compile>[1] = {}): Promise<string> {
    const error = await compile(operation, options).then(() => undefined, (caught: unknown) => caught)
    expect(error).to.be.instanceOf(DefinitionError)
    return (error as Error).message
  }

  it('are found beside the definition, in the project and in its resources, by every way of writing', async () => {
    await write('workflows/beside.yaml', openapi(`  /a: { ${get('a')} }`))
    await write('specs/in-project.yaml', openapi(`  /a: { ${get('a')} }`))
    await write('src/main/resources/res/in-resources.json', JSON.stringify({ openapi: '3.1.0', paths: { '/a': { get: { operationId: 'a' } } } }))
    for (const name of ['beside.yaml', 'specs/in-project.yaml', 'classpath:res/in-resources.json', 'classpath:/specs/in-project.yaml', 'file:specs/in-project.yaml', 'file://specs/in-project.yaml', 'file:beside.yaml', `file:${path.join(directory, 'specs/in-project.yaml')}`, `file://${path.join(directory, 'specs/in-project.yaml')}`, 'res/in-resources.json']) {
      expect(await compile(`${name}#a`), name).to.respondTo('invoke')
    }
    const extensions = [{ extensionid: 'workflow-uri-definitions', definitions: { myService: 'specs/in-project.yaml' } }]
    expect(await compile('myService#a', { scope: { extensions } })).to.respondTo('invoke')
    // The specification's examples are written so, with a directory where a host would be.
    expect(await refusal('file://myapis/greetingapis.json#greeting')).to.include('myapis/greetingapis.json').and.include('does not exist')
    expect(await refusal('file:///a%2Fb.json#x')).to.include('does not exist')
    expect(await refusal('nowhere.yaml#a')).to.include('workflows/nowhere.yaml').and.include('src/main/resources/nowhere.yaml')
  })

  it('decide by content: JSON in a .yaml file, YAML in a .json file', async () => {
    await write('mixed.yaml', JSON.stringify({ swagger: '2.0', paths: { '/a': { get: { operationId: 'a' } } } }))
    await write('mixed.json', openapi(`  /a: { ${get('a')} }`))
    expect(await compile('mixed.yaml#a')).to.respondTo('invoke')
    expect(await compile('mixed.json#a')).to.respondTo('invoke')
  })

  it('name the nearest operations, and both of two that fit', async () => {
    await write('ids.yaml', openapi(`  /a: { ${get('get Order, by.id')} }\n  /b: { ${get('getOrders')} }\n  /c: { ${get('do-it')} }\n  /d: { ${get('do_it')} }`))
    expect(await compile('ids.yaml#getOrderById')).to.respondTo('invoke')
    expect(await refusal('ids.yaml#getOrdesr')).to.include('getOrders')
    expect(await refusal('ids.yaml#doIt')).to.include('do-it (GET /c)').and.include('do_it (GET /d)')
    expect(await refusal('ids.yaml#')).to.include('malformed')
    expect(await refusal('ids.yaml')).to.include('malformed')
  })

  it('refuse other versions naming what they say', async () => {
    await write('v4.yaml', 'openapi: 4.0.0\npaths: {}\n')
    await write('none.yaml', 'paths: {}\n')
    await write('list.yaml', '- a\n')
    await write('broken.yaml', 'openapi: 3.0.3\npaths: {\n  a: [\n')
    expect(await refusal('v4.yaml#a')).to.include('"4.0.0"')
    expect(await refusal('none.yaml#a')).to.include('neither "swagger" nor "openapi"')
    expect(await refusal('list.yaml#a')).to.include('not an object')
    expect(await refusal('broken.yaml#a')).to.match(/line \d+/)
  })

  it('stay in the project: no reference, link or path leads out', async () => {
    await symlink(outside, path.join(directory, 'link.yaml'))
    await write('refs.yaml', openapi(`  /a: { get: { operationId: a, parameters: [{ $ref: '../secret.yaml#/paths' }] } }`))
    await write('passwd.yaml', openapi(`  /a: { get: { operationId: a, parameters: [{ $ref: '../../../../../../../../etc/passwd' }] } }`))
    expect(await refusal('../../secret.yaml#x')).to.include('outside the project')
    expect(await refusal('link.yaml#x')).to.include('outside the project')
    expect(await refusal('refs.yaml#a')).to.include('outside the project').and.include('/paths/~1a/get/parameters/0')
    expect(await refusal('passwd.yaml#a')).to.include('outside the project').and.not.include('root:')
    expect(await refusal(`file://${outside}#x`)).to.include('outside the project')
  })

  for (const [name, reference, text] of [
    ['a missing file', 'gone.yaml#/x', 'does not exist'],
    ['nothing', '#/components/schemas/None', 'leads to nothing'],
    ['itself', '#/components/parameters/Loop', 'leads back to itself'],
    ['an http address', 'http://127.0.0.1/x.yaml', 'is remote'],
    ['another host', 'file://host/x.yaml', 'names a host'],
    ['an encoded slash', 'a%2Fb.yaml', 'a slash that is encoded'],
    ['another scheme', 'ftp://host/x.yaml', 'a scheme that is not read'],
  ] as const) {
    it(`refuse a reference to ${name}, naming file and pointer`, async () => {
      const file = `bad-${String(text.length)}.yaml`
      await write(file, openapi(`  /a: { get: { operationId: a, parameters: [{ $ref: '${reference}' }] } }`, `components: { parameters: { Loop: { $ref: '#/components/parameters/Loop' } } }\n`))
      const message = await refusal(`${file}#a`)
      expect(message).to.include(file).and.include(text)
    })
  }

  it('resolve references between files, cyclic schemas included, for 3.0, 3.1 and 2.0', async () => {
    await write('closure/parts/schemas.yaml', 'Id: { type: string }\nTree: { type: object, properties: { children: { type: array, items: { $ref: "#/Tree" } }, root: { $ref: "../root.yaml#/x-shared" } } }\n')
    await write('closure/root.yaml', '')
    for (const version of ['openapi: 3.0.3', 'openapi: 3.1.0']) {
      await write('closure/root.yaml', `${version}\ninfo: { title: t, version: '1' }\nx-shared: { type: object }\npaths:\n  /a/{id}:\n    parameters: [{ name: id, in: path, required: true, schema: { $ref: 'parts/schemas.yaml#/Id' } }]\n    post: { operationId: a, requestBody: { content: { application/json: { schema: { $ref: 'parts/schemas.yaml#/Tree' } } } }, responses: {} }\n`)
      await using compiler = await createTestCompiler({ root: directory, config: { 'sonatina.rest-client.root_yaml.url': server.url, 'sonatina.openapi.validate-arguments': 'true' } })
      const invoker = await compiler.compile({ type: 'rest', operation: 'closure/root.yaml#a' }, { base: path.join(directory, 'w') })
      await invoker.invoke(callOf({ id: 'x', children: [{ children: [] }] }))
      expect(server.requests.at(-1)?.target, version).to.equal('/a/x')
      const deep = await Promise.resolve().then(() => invoker.invoke(callOf({ id: 'x', children: [{ children: 3 }] }))).catch((error: unknown) => error)
      expect(deep, version).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
    }
  })

  it('survive hostile YAML and size', async () => {
    const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]', ...'bcdefgh'.split('').map((letter, index) => `${letter}: &${letter} [${Array.from({ length: 10 }, () => `*${'abcdefg'[index] ?? ''}`).join(', ')}]`)]
    await write('bomb.yaml', `openapi: 3.0.3\n${bomb.join('\n')}\npaths: {}\n`)
    await write('deep.json', `{"openapi":"3.0.3","paths":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`)
    await write('deep.yaml', '['.repeat(2000))
    await write('deep-blocks.yaml', '- '.repeat(200_000))
    await write('large.json', `{"openapi":"3.0.3","x":"${'x'.repeat(11 * 1024 * 1024)}"}`)
    await writeFile(path.join(directory, 'latin.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xe4]))
    expect(await refusal('bomb.yaml#a')).to.match(/alias/i)
    expect(await refusal('deep.json#a')).to.include('nested deeper')
    for (const name of ['deep.yaml#a', 'deep-blocks.yaml#a']) expect(await refusal(name)).to.include('nested deeper')
    expect(await refusal('large.json#a')).to.include('larger than')
    expect(await refusal('latin.yaml#a')).to.include('UTF-8')
  })

  it('are read from http only when that is on, and their relative servers resolve', async () => {
    server.answer = (request, response) => {
      response.writeHead(200, { 'content-type': request.target.endsWith('.yaml') ? 'text/yaml' : 'application/json' })
        .end(request.target === '/api/doc.yaml' ? openapi(`  /a: { ${get('a')} }`, 'servers: [{ url: "/v1/{stage}", variables: { stage: { default: live } } }]\n') : '{}')
    }
    expect(await refusal(`${server.url}/api/doc.yaml#a`)).to.include('sonatina.openapi.remote-documents=true')
    await using compiler = await createTestCompiler({ root: directory, config: { 'sonatina.openapi.remote-documents': 'true' } })
    const invoker = await compiler.compile({ type: 'rest', operation: `${server.url}/api/doc.yaml#a` })
    await invoker.invoke(callOf())
    expect(server.requests.at(-1)?.target).to.equal('/v1/live/a')
  })

  it('are read with the credentials of the auth definition that the function names', async () => {
    server.answer = (request, response) => {
      response.writeHead(request.headers.authorization === 'Bearer doc' ? 200 : 401).end(openapi(`  /a: { ${get('a')} }`))
    }
    const authorizer = { ...noAuthorizer, compileDefinition: () => ({ apply: (request: { headers: Record<string, string> }) => { request.headers['Authorization'] = 'Bearer doc' }, renew: () => false }) }
    await using compiler = await createTestCompiler({ root: directory, authorizer, config: { 'sonatina.openapi.remote-documents': 'true' } })
    const operation = `${server.url}/secured.yaml#a`
    expect(await compiler.compile({ type: 'rest', operation, authRef: 'a' }, { auth: [{ name: 'a', scheme: 'bearer', properties: {} }] })).to.respondTo('invoke')
    expect(await compiler.compile({ type: 'rest', operation }).catch((error: unknown) => error)).to.include({ code: 'DEFINITION_NOT_FOUND' })
    expect(await compiler.compile({ type: 'rest', operation, authRef: 'b' }).catch((error: unknown) => error)).to.have.property('message').that.includes('"b", which does not exist')
  })

  it('name the key of a missing address, its environment form, and two documents of one key', async () => {
    await write('one/same.yaml', openapi(`  /a: { ${get('a')} }`))
    await write('two/same.yaml', openapi(`  /a: { ${get('a')} }`))
    await using compiler = await createTestCompiler({ root: directory })
    const invoker = await compiler.compile({ type: 'rest', operation: 'one/same.yaml#a' }, { base: path.join(directory, 'w') })
    expect(() => invoker.invoke(callOf())).to.throw('sonatina.rest-client.same_yaml.url').with.property('message').that.includes('SONATINA_REST_CLIENT_SAME_YAML_URL')
    const error: unknown = await compiler.compile({ type: 'rest', operation: 'two/same.yaml#a' }, { base: path.join(directory, 'w') }).catch((caught: unknown) => caught)
    expect(error).to.have.property('message').that.includes('FULL_URI')
  })

  for (const [strategy, key] of [['FULL_URI', 'one_same_yaml'], ['FUNCTION_NAME', 'orders_f'], ['SPEC_TITLE', 'Some_Title']] as const) {
    it(`are keyed by ${strategy}`, async () => {
      await write('one/same.yaml', openapi(`  /${strategy}: { ${get('a')} }`))
      await using compiler = await createTestCompiler({ root: directory, config: { 'kogito.sw.operationIdStrategy': strategy, [`sonatina.rest-client.${key}.url`]: server.url } })
      await (await compiler.compile({ type: 'rest', operation: 'one/same.yaml#a' }, { base: path.join(directory, 'w') })).invoke(callOf())
      expect(server.requests.at(-1)?.target).to.equal(`/${strategy}`)
    })
  }

  it('choose a configuration by metadata.configKey, and refuse one that is blank or unknown', async () => {
    await write('keyed.yaml', openapi(`  /k: { ${get('a')} }`))
    await using compiler = await createTestCompiler({ root: directory, config: { 'quarkus.rest-client."keyed_yaml.cluster1".url': `${server.url}/one` } })
    let value = 'cluster1'
    const invoker = await compiler.compile({ type: 'rest', operation: 'keyed.yaml#a', metadata: { configKey: '.key' } }, { base: path.join(directory, 'w'), evaluate: () => value })
    await invoker.invoke(callOf())
    expect(server.requests.at(-1)?.target).to.equal('/one/k')
    for (value of ['', ' ', 'cluster2']) {
      expect(await Promise.resolve(invoker.invoke(callOf())).catch((error: unknown) => error), value).to.include({ code: 'FUNCTION_ARGUMENT_INVALID' })
    }
  })
})
