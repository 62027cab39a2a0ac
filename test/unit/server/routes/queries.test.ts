import { expect } from 'chai'
import { behaviours } from '../../../support/fake-host.ts'
import { openBench, type Bench } from '../setup.ts'

const I = '/management/processes/hello/instances'
interface Page {
  readonly instances: { id: string; status: string; workflowdata: { n: number } }[]
  readonly cursor?: string
}

describe('server/routes/queries', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await openBench()
    for (let n = 0; n < 5; n++) {
      if (n === 3) bench.host.behaviours.set('hello', behaviours.waits('x'))
      if (n === 4) bench.host.behaviours.set('hello', behaviours.fails({}))
      await bench.send('POST', `/hello?businessKey=k${String(n)}`, { body: { n, deep: { list: [n], name: `n${String(n)}` } } })
      bench.clock.advance(60_000)
    }
  })
  afterEach(() => bench.close())
  const query = async (text: string): Promise<Page> => {
    const answer = await bench.send('GET', `${I}?${text}`)
    expect(answer.status, answer.text).to.equal(200)
    return answer.json as Page
  }
  const numbers = async (text: string): Promise<number[]> => (await query(text)).instances.map(({ workflowdata }) => workflowdata.n)

  it('gives instances newest first, with status words for callers', async () => {
    expect((await query('')).instances.map(({ status }) => status)).to.deep.equal(['Error', 'Active', 'Completed', 'Completed', 'Completed'])
  })

  it('selects by status, business key, time and data', async () => {
    expect(await numbers('status=Active')).to.deep.equal([3])
    expect(await numbers('status=active,error')).to.deep.equal([4, 3])
    expect(await numbers('status=Pending')).to.deep.equal([])
    expect(await numbers('businessKey=k2')).to.deep.equal([2])
    expect(await numbers('startedAfter=2026-01-01T00:02:30Z&status=Completed')).to.deep.equal([])
    expect(await numbers('startedBefore=2026-01-01T00:01:30Z')).to.deep.equal([1, 0])
    expect(await numbers('data.n=2')).to.deep.equal([2])
    expect(await numbers('data.deep.name=n1')).to.deep.equal([1])
    expect(await numbers('data.deep.list.0=4')).to.deep.equal([4])
    expect(await numbers('data.nothing=1')).to.deep.equal([])
  })

  it('pages with cursors, also where a condition on data leaves some out', async () => {
    const first = await bench.send('GET', `${I}?limit=2`)
    const { cursor } = first.json as Page
    expect(first.headers['link']).to.equal(`<${I}?limit=2&cursor=${String(cursor)}>; rel="next"`)
    expect(await numbers(`limit=2&cursor=${String(cursor)}`)).to.deep.equal([2, 1])
    expect(await numbers('limit=1&data.n=0')).to.deep.equal([0])
  })

  it('describes one instance, ended or not, and its history', async () => {
    const { instances } = await query('')
    const [failed, waiting, done] = instances
    const one = async (id: string | undefined, path = ''): Promise<unknown> => (await bench.send('GET', `${I}/${String(id)}${path}`)).json
    expect(await one(failed?.id)).to.deep.include({ status: 'Error', businessKey: 'k4', error: { failedNodeId: 'Compute', code: 'FUNCTION_FAILED', message: 'it failed' } })
    expect(await one(waiting?.id)).to.deep.include({ status: 'Active', waitingFor: [{ kind: 'event', nodeId: 'Wait', names: ['x'] }] })
    expect(await one(done?.id)).to.deep.include({ status: 'Completed', startedAt: '2026-01-01T00:02:00.000Z', endedAt: '2026-01-01T00:02:00.000Z' })
    bench.host.steps.set(done?.id ?? '', [{ sequence: 0, at: 0, type: 'started' }])
    expect(await one(done?.id, '/history')).to.deep.equal([{ sequence: 0, at: '1970-01-01T00:00:00.000Z', type: 'started' }])
  })

  for (const text of ['status=Nonsense', 'limit=0', 'limit=-1', 'limit=x', 'limit=1e3', 'startedAfter=soon', 'startedBefore=']) {
    const status = text.endsWith('=') ? 200 : 400
    it(`answers ${String(status)} to ?${text}`, async () => { expect((await bench.send('GET', `${I}?${text}`)).status).to.equal(status) })
  }
})
