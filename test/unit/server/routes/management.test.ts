import { expect } from 'chai'
import type { Action, State } from '../../../../lib/definition/index.ts'
import { behaviours, fakeDefinition } from '../../../support/fake-host.ts'
import { openBench, type Answer, type Bench } from '../setup.ts'

const P = '/management/processes'
const action = (name: string): Action => ({ name, functionRef: { refName: 'f', invoke: 'sync' }, sleep: {}, retryableErrors: [], nonRetryableErrors: [], actionDataFilter: { useResults: true } })
const common = { stateDataFilter: {}, onErrors: [], timeouts: {}, usedForCompensation: false, metadata: {}, end: { terminate: false, compensate: false, produceEvents: [] } }
const states: State[] = [
  { ...common, name: 'Do', type: 'operation', actionMode: 'sequential', actions: [action('one'), action('two')] },
  { ...common, name: 'Fork', type: 'parallel', completionType: 'allOf', branchData: 'shared', branches: [{ name: 'left', actions: [action('l')], timeouts: {} }] },
]

describe('server/routes/management', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await openBench({}, { sourceRoots: ['/project'] })
    bench.catalogue.add(fakeDefinition('rich', {
      name: 'Rich one', description: 'Does it', annotations: ['a'], version: '2.1', states,
      dataInputSchema: { schema: { type: 'object' }, failOnValidationErrors: true }, dataOutputSchema: { schema: true, failOnValidationErrors: true },
    }, { text: 'id: rich # as written\n', format: 'yaml', uri: '/project/flows/rich.sw.yaml', resources: { 'file:///project/schemas/in.json': '{"type":"object"}', 'https://example.org/x.json': '{}' } }))
  })
  afterEach(() => bench.close())
  const get = async (path: string): Promise<unknown> => (await bench.send('GET', path)).json
  const begin = async (behaviour: Parameters<typeof bench.host.behaviours.set>[1]): Promise<string> => {
    bench.host.behaviours.set('rich', behaviour)
    const { json } = await bench.send('POST', '/rich', { body: { a: 1 } })
    return (json as { id: string }).id
  }

  it('lists and describes definitions', async () => {
    expect(await get(P)).to.deep.equal(['hello', 'rich'])
    expect(await get(`${P}/hello`)).to.deep.equal({ id: 'hello', name: 'hello', type: 'SW', version: '1.0' })
    expect(await get(`${P}/rich`)).to.deep.equal({ id: 'rich', name: 'Rich one', type: 'SW', version: '2.1', description: 'Does it', annotations: ['a'], inputSchema: { type: 'object' }, outputSchema: true })
  })

  it('lists nodes with state, branch and action', async () => {
    expect((await get(`${P}/rich/nodes`) as { id: string; type: string; metadata: object }[]).map(({ id, type, metadata }) => [id, type, metadata])).to.deep.equal([
      ['Do', 'operation', { state: 'Do' }],
      ['Do/one', 'action', { state: 'Do', action: 'one' }],
      ['Do/two', 'action', { state: 'Do', action: 'two' }],
      ['Fork', 'parallel', { state: 'Fork' }],
      ['Fork/left/l', 'action', { state: 'Fork', branch: 'left', action: 'l' }],
    ])
  })

  it('hands out sources byte for byte, under names relative to the project, and nothing that is not listed', async () => {
    const source = await bench.send('GET', `${P}/rich/source`)
    expect([source.text, source.headers['content-type']]).to.deep.equal(['id: rich # as written\n', 'application/yaml; charset=utf-8'])
    expect(await get(`${P}/rich/sources`)).to.deep.equal([{ uri: 'flows/rich.sw.yaml' }, { uri: 'schemas/in.json' }, { uri: 'https://example.org/x.json' }])
    const listed = await bench.send('GET', `${P}/sources?uri=flows/rich.sw.yaml`)
    expect([listed.text, listed.headers['content-length']]).to.deep.equal(['id: rich # as written\n', '22'])
    for (const uri of ['', '/etc/passwd', '../package.json', 'flows/../../x', '/project/flows/rich.sw.yaml', 'file:///project/flows/rich.sw.yaml']) {
      expect((await bench.send('GET', `${P}/sources?uri=${encodeURIComponent(uri)}`)).status, uri).to.equal(404)
    }
  })

  it('tells the error of an instance, retriggers and skips it', async () => {
    const failed = await begin(behaviours.fails({ code: 'EXPRESSION_FAILED', message: 'division by zero' }))
    expect(await get(`${P}/rich/instances/${failed}/error`)).to.deep.equal({ id: failed, failedNodeId: 'Compute', message: 'division by zero' })
    expect((await bench.send('POST', `${P}/rich/instances/${failed}/retrigger`)).json).to.deep.equal({ id: failed, workflowdata: { a: 1 } })
    expect((await bench.send('GET', `/rich/${failed}`)).status).to.equal(404)
    const other = await begin(behaviours.fails({}))
    expect((await bench.send('POST', `${P}/rich/instances/${other}/skip`)).json).to.deep.equal({ id: other, workflowdata: { skipped: true } })
  })

  it('answers the error again when a retrigger fails again', async () => {
    const id = await begin(behaviours.fails({ code: 'REST_STATUS', status: 409, message: 'Conflict' }))
    bench.host.retrigger = () => Promise.resolve(bench.host.instances.get(id) ?? expect.fail())
    const answer = await bench.send('POST', `${P}/rich/instances/${id}/retrigger`)
    expect([answer.status, answer.json]).to.deep.equal([409, { message: 'Conflict', code: 'REST_STATUS', id, failedNodeId: 'Compute', errorCode: '409' }])
  })

  it('triggers, repeats and cancels nodes', async () => {
    const id = await begin(behaviours.waits('x'))
    expect((await bench.send('POST', `${P}/rich/instances/${id}/nodes/Fork%2Fleft%2Fl`)).json).to.deep.equal({ id, workflowdata: { triggered: 'Fork/left/l' } })
    expect(await get(`${P}/rich/instances/${id}/nodeInstances`)).to.deep.equal([{
      id: 'wait-1', nodeId: 'Wait', nodeDefinitionId: 'Wait', name: 'Wait', type: 'event', triggerTime: '2026-01-01T00:00:00.000Z', waitingFor: ['x'],
    }])
    expect((await bench.send('POST', `${P}/rich/instances/${id}/nodeInstances/wait-1`)).status).to.equal(200)
    expect((await bench.send('DELETE', `${P}/rich/instances/${id}/nodeInstances/wait-1`)).status).to.equal(200)
    expect((await bench.send('GET', `/rich/${id}`)).status).to.equal(404)
  })

  it('lists, moves and fires timers', async () => {
    const id = await begin(behaviours.sleeps(Date.UTC(2026, 0, 2)))
    const timer = { id: 'timer-1', processInstanceId: id, nodeInstanceId: 'timer-1', nodeId: 'Sleep', expirationTime: '2026-01-02T00:00:00.000Z' }
    expect(await get(`${P}/rich/instances/${id}/timers`)).to.deep.equal([timer])
    expect(await get(`${P}/rich/instances/${id}/nodeInstances/timer-1/timers`)).to.deep.equal([timer])
    const moved = await bench.send('PATCH', `${P}/rich/instances/${id}/nodeInstances/timer-1/sla`, { body: { expirationTime: '2026-02-01T00:00:00Z' } })
    expect([moved.status, Object.keys(moved.json as object)]).to.deep.equal([200, ['message']])
    expect(bench.host.moved.get('timer-1')).to.equal(Date.UTC(2026, 1, 1))
    expect((await bench.send('PATCH', `${P}/rich/instances/${id}/nodeInstances/timer-1/sla`, { body: { expirationTime: 'soon' } })).status).to.equal(400)
    expect((await bench.send('PATCH', `${P}/rich/instances/${id}/nodeInstances/timer-1/sla`, { body: '[]', headers: { 'content-type': 'application/json' } })).status).to.equal(400)
    expect((await bench.send('PATCH', `${P}/rich/instances/${id}/sla`, { body: { expirationTime: '2026-02-01T00:00:00Z' } })).status).to.equal(400)
    expect((await bench.send('POST', `/management/jobs/rich/instances/${id}/timers/timer-1?limit=1`)).status).to.equal(200)
    expect(bench.host.moved.get('timer-1')).to.equal(bench.clock.now())
  })

  it('aborts', async () => {
    const id = await begin(behaviours.waits('x'))
    expect((await bench.send('DELETE', `${P}/rich/instances/${id}`)).json).to.deep.equal({ id, workflowdata: { a: 1 } })
  })

  const calls: [method: string, path: string, body?: object][] = [
    ['GET', '/error'], ['POST', '/retrigger'], ['POST', '/skip'], ['POST', '/nodes/Do'], ['GET', '/nodeInstances'], ['GET', '/timers'], ['GET', '/nodeInstances/n/timers'],
    ['POST', '/nodeInstances/n'], ['DELETE', '/nodeInstances/n'], ['PATCH', '/sla', { expirationTime: '2026-01-01' }], ['PATCH', '/nodeInstances/n/sla', { expirationTime: '2026-01-01' }], ['DELETE', ''],
    ['GET', ''], ['GET', '/history'],
  ]
  for (const [method, path, body] of calls) {
    const call = (workflow: string, instance: string): Promise<Answer> => bench.send(method, `${P}/${workflow}/instances/${instance}${path}`, body === undefined ? {} : { body })
    it(`${method} ${path || '/'}: 404 for an unknown definition and an unknown instance`, async () => {
      const unknown = await call('nothing', 'i')
      expect([unknown.status, (unknown.json as { code: string }).code]).to.deep.equal([404, 'DEFINITION_NOT_FOUND'])
      const noInstance = await call('rich', 'nobody')
      expect([noInstance.status, noInstance.json]).to.deep.equal([404, { message: (noInstance.json as { message: string }).message, code: 'INSTANCE_NOT_FOUND', processInstanceId: 'nobody' }])
    })
  }

  for (const [method, path] of [['GET', 'error'], ['POST', 'retrigger'], ['POST', 'skip']] as const) {
    it(`${method} ${path}: 400 for an instance that is not in error`, async () => {
      const id = await begin(behaviours.waits('x'))
      const answer = await bench.send(method, `${P}/rich/instances/${id}/${path}`)
      expect([answer.status, (answer.json as { code: string }).code]).to.deep.equal([400, 'INSTANCE_NOT_FAILED'])
    })
  }

  for (const path of ['', '/nodes', '/source', '/sources', '/instances']) {
    it(`GET ${path || '/'}: 404 for an unknown definition`, async () => { expect((await bench.send('GET', `${P}/nothing${path}`)).status).to.equal(404) })
  }

  it('is not there when it is switched off', async () => {
    const closed = await openBench({ management: false })
    try {
      expect((await closed.send('GET', P)).status).to.equal(404)
      expect((await closed.send('GET', '/q/health')).status).to.equal(200)
    } finally {
      await closed.close()
    }
  })

  it('moves to a listener of its own', async () => {
    const split = await openBench({ managementPort: 0 }, { mounts: [{ path: '/inspect', middleware: (ctx) => { ctx.body = 'inspected' } }] })
    try {
      const there = { port: split.managementPort ?? 0 }
      for (const path of [P, '/q/health/live', '/inspect']) {
        expect((await split.send('GET', path)).status, path).to.equal(404)
        expect((await split.send('GET', path, there)).status, path).to.equal(200)
      }
      expect((await split.send('POST', '/hello', { body: {} })).status).to.equal(201)
      expect((await split.send('POST', '/hello', { body: {}, ...there })).status).to.equal(404)
      expect((await split.send('GET', '/q/nothing', there)).status).to.equal(404)
    } finally {
      await split.close()
    }
  })
})
