import { expect } from 'chai'
import SwaggerClient from 'swagger-client'
import { parse } from 'yaml'
import { eventDefinition, fakeDefinition } from '../../../support/fake-host.ts'
import { openBench, type Bench } from '../setup.ts'

type Operation = Record<string, unknown> & { operationId: string; tags: string[]; responses: Record<string, unknown> }
interface Document {
  readonly openapi: string
  readonly tags: { name: string; description?: string }[]
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { schemas: Record<string, Record<string, unknown>> }
}

describe('server/routes/openapi', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await openBench({ swaggerUi: true })
    bench.catalogue.add(fakeDefinition('typed', {
      description: 'An amazing workflow', annotations: ['Cogito', 'ergo'],
      dataInputSchema: { failOnValidationErrors: true, schema: { $schema: 'http://json-schema.org/draft-04/schema#', title: 'Expression Input', type: 'object', definitions: { n: { type: 'number', minimum: 0, exclusiveMinimum: true } }, properties: { numbers: { type: 'array', items: { $ref: '#/definitions/n' } } } } },
      dataOutputSchema: { failOnValidationErrors: true, schema: { title: 'Expression Output', type: 'object' } },
    }))
    bench.catalogue.add(eventDefinition('ev', 't'))
    bench.catalogue.add(fakeDefinition('a b'))
  })
  afterEach(() => bench.close())
  const read = async (): Promise<Document> => (await bench.send('GET', '/q/openapi?format=json')).json as Document

  it('describes each definition with the ids and tags of SonataFlow', async () => {
    const { openapi, paths, components, tags } = await read()
    expect(openapi).to.equal('3.1.0')
    expect(Object.entries(paths).flatMap(([path, item]) => (path.startsWith('/typed') ? Object.values(item).flatMap((operation) => ('operationId' in operation ? [operation.operationId] : [])) : []))).to.deep.equal([
      'createProcessInstance_typed', 'getAllProcessInstances_typed', 'getResourceSchema_typed', 'getProcessInstance_typed', 'updateProcessInstance_typed', 'patchProcessInstance_typed', 'deleteProcessInstance_typed', 'getTasks_typed',
    ])
    expect(paths['/typed']?.['post']?.tags).to.deep.equal(['Process - typed'])
    expect(components.schemas['Expression Input']).to.deep.equal({
      title: 'Expression Input', type: 'object', $defs: { n: { type: 'number', exclusiveMinimum: 0 } },
      properties: { numbers: { type: 'array', items: { $ref: '#/components/schemas/Expression Input/$defs/n' } } },
    })
    expect(components.schemas).to.have.property('Expression Output')
    expect(tags).to.deep.include({ name: 'typed', description: 'An amazing workflow' })
    expect(tags).to.deep.include({ name: 'Cogito' })
    expect(paths['/ev']).to.not.have.property('post')
    expect(paths).to.have.property('/a%20b')
    expect(Object.keys(paths['/typed']?.['post']?.responses ?? {})).to.deep.equal(['201', '202', '400', '404', '409', '413', '415', '500', '503'])
  })

  it('is YAML unless JSON is asked for', async () => {
    const yaml = await bench.send('GET', '/q/openapi')
    expect(yaml.headers['content-type']).to.equal('application/yaml; charset=utf-8')
    expect(parse(yaml.text)).to.deep.equal(await read())
    for (const [path, accept] of [['/q/openapi?format=json', ''], ['/q/openapi?format=JSON', 'application/yaml'], ['/q/openapi', 'application/json']] as const) {
      expect((await bench.send('GET', path, { headers: accept === '' ? {} : { accept } })).headers['content-type']).to.equal('application/json; charset=utf-8')
    }
  })

  it('has an ETag that changes with the definitions', async () => {
    const first = await bench.send('GET', '/q/openapi')
    const again = await bench.send('GET', '/q/openapi', { headers: { 'if-none-match': first.headers.etag ?? '' } })
    expect([again.status, again.text]).to.deep.equal([304, ''])
    bench.catalogue.add(fakeDefinition('new'))
    const changed = await bench.send('GET', '/q/openapi', { headers: { 'if-none-match': first.headers.etag ?? '' } })
    expect(changed.status).to.equal(200)
  })

  it('parses in swagger-client without errors, references resolved', async () => {
    const resolved = await SwaggerClient.resolve({ spec: await read() }) as { spec: Document; errors: unknown[] }
    expect(resolved.errors).to.deep.equal([])
    const body = resolved.spec.paths['/typed']?.['post']?.['requestBody'] as { content: Record<string, { schema: { properties: { numbers: { items: object } } } }> }
    expect(body.content['application/json']?.schema.properties.numbers.items).to.deep.include({ type: 'number', exclusiveMinimum: 0 })
  })

  it('names only operations that answer, each id once', async () => {
    const { paths } = await read()
    const ids = new Set<string>()
    for (const [template, item] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(item)) {
        if (method === 'parameters') continue
        expect(ids.has(operation.operationId), operation.operationId).to.equal(false)
        ids.add(operation.operationId)
        const path = template.replace('{processId}', 'hello').replaceAll(/\{\w+\}/g, 'x')
        const answer = await bench.send(method.toUpperCase(), path, { body: method === 'get' ? undefined : {} })
        expect(answer.status, `${method} ${path}`).to.not.equal(405)
        expect(answer.text, `${method} ${path}`).to.not.include('Nothing is served at')
        expect(Object.keys(operation.responses), `${method} ${path} answered ${String(answer.status)}`).to.include(String(answer.status))
      }
    }
  })
})
