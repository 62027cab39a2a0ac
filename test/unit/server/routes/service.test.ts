import { expect } from 'chai'
import { createLogging, silentLogger } from '../../../../lib/common/index.ts'
import { createServerMetrics, type StepObservation, type ServerMetrics } from '../../../../lib/server/index.ts'
import { brokenFile } from '../../../support/fake-host.ts'
import { openBench, type Bench } from '../setup.ts'

describe('server/routes/service', () => {
  let bench: Bench
  afterEach(() => bench.close())
  const health = async (path = ''): Promise<[number, string]> => {
    const { status, json, headers } = await bench.send('GET', `/q/health${path}`)
    expect(headers['cache-control']).to.equal('no-store')
    return [status, (json as { status: string }).status]
  }

  describe('health', () => {
    it('is up', async () => {
      bench = await openBench()
      for (const path of ['', '/live', '/ready', '/started']) expect(await health(path), path).to.deep.equal([200, 'UP'])
    })

    it('is unready when the store is away or its state cannot be told, and lives on', async () => {
      bench = await openBench()
      bench.host.ready = { ready: false, reason: 'disk full' }
      expect(await health('/ready')).to.deep.equal([503, 'DOWN'])
      expect((await bench.send('GET', '/q/health/ready')).text).to.include('disk full')
      bench.host.failure = new Error('broken')
      expect(await health('')).to.deep.equal([503, 'DOWN'])
      expect(await health('/live')).to.deep.equal([200, 'UP'])
    })

    it('names broken definitions, and is unready for them only when strict', async () => {
      bench = await openBench()
      bench.catalogue.fail(brokenFile('/secret/place/bad.sw.json'))
      expect(await health('/ready')).to.deep.equal([200, 'UP'])
      const { text } = await bench.send('GET', '/q/health/ready')
      expect(text).to.include('"broken":[{"file":"bad.sw.json","code":"DEFINITION_INVALID"}]').and.not.include('secret')
      await bench.close()
      bench = await openBench({ strict: true })
      bench.catalogue.fail(brokenFile('/x/bad.sw.json'))
      expect(await health('/ready')).to.deep.equal([503, 'DOWN'])
    })
  })

  describe('metrics', () => {
    const tell = (to: ServerMetrics, type: StepObservation['type'], at: number, { instanceId = 'i', ...more }: Partial<StepObservation> & { instanceId?: string } = {}): void => {
      to.observe({ type, at, ...more }, { id: instanceId, workflowId: 'hello', version: '1.0' })
    }

    it('counts instances and states under both names', async () => {
      const metrics = createServerMetrics()
      bench = await openBench({}, { metrics, application: { name: 'app', version: '1' } })
      tell(metrics, 'started', 0)
      tell(metrics, 'stateEntered', 0, { state: 'A', nodeId: 'A' })
      tell(metrics, 'actionStarted', 1, { nodeId: 'A/f' })
      tell(metrics, 'actionCompleted', 4, { nodeId: 'A/f' })
      tell(metrics, 'completed', 2000)
      tell(metrics, 'started', 0, { instanceId: 'j' })
      tell(metrics, 'failed', 1, { instanceId: 'j', detail: { code: 'EXPRESSION_FAILED', message: 'for customer 42' } })
      tell(metrics, 'failed', 1, { instanceId: 'j', detail: { code: 'customer 43' } })
      const { text, headers, status } = await bench.send('GET', '/q/metrics')
      expect([status, headers['content-type']]).to.deep.equal([200, 'text/plain; version=0.0.4; charset=utf-8'])
      const labels = 'process_id="hello",version="1.0",app_id="app",artifactId="app"'
      for (const prefix of ['kogito', 'sonatina']) {
        expect(text).to.include(`${prefix}_process_instance_started_total{${labels}} 2`)
        expect(text).to.include(`${prefix}_process_instance_running_total{${labels}} 1`)
        expect(text).to.include(`${prefix}_process_instance_completed_total{${labels},process_state="Completed"} 1`)
        expect(text).to.include(`${prefix}_process_instance_error_total{${labels},error_message="EXPRESSION_FAILED"} 1`)
        expect(text).to.include(`${prefix}_process_instance_error_total{${labels},error_message="FUNCTION_FAILED"} 1`)
        expect(text).to.include(`${prefix}_process_instance_duration_seconds_bucket{le="5",${labels}} 1`)
        expect(text).to.include(`${prefix}_process_instance_duration_seconds_bucket{le="1",${labels}} 0`)
        expect(text).to.include(`${prefix}_process_instance_duration_seconds_bucket{le="+Inf",${labels}} 1`)
        expect(text).to.include(`${prefix}_process_instance_duration_seconds_sum{${labels}} 2`)
        expect(text).to.include(`${prefix}_node_instance_duration_milliseconds_sum{${labels},node_name="A/f"} 3`)
        expect(text).to.include(`${prefix}_node_instance_duration_milliseconds_count{${labels},node_name="A"} 1`)
        expect(text).to.include(`# TYPE ${prefix}_process_instance_duration_seconds histogram`)
      }
      expect(text).to.include('process_cpu_user_seconds_total').and.not.include('customer')
    })

    it('forgets the oldest starts instead of growing without end', () => {
      const metrics = createServerMetrics()
      for (let n = 0; n < 10_001; n++) tell(metrics, 'started', 0, { instanceId: String(n) })
      tell(metrics, 'completed', 1, { instanceId: '0' })
      tell(metrics, 'completed', 1, { instanceId: '1' })
      const [tally] = metrics.tallies()
      expect([tally?.started, tally?.running, tally?.duration.count]).to.deep.equal([10_001, 9_999, 1])
    })

    it('are not there when switched off', async () => {
      bench = await openBench({ metrics: false })
      expect((await bench.send('GET', '/q/metrics')).status).to.equal(404)
    })
  })

  describe('log levels', () => {
    it('are read and changed while serving', async () => {
      const logging = createLogging({ level: 'info', categories: { auth: 'warn' }, write: () => undefined })
      bench = await openBench({}, { log: silentLogger, logLevels: logging })
      expect((await bench.send('GET', '/management/log-levels')).json).to.deep.equal({ '': 'info', auth: 'warn' })
      expect((await bench.send('PUT', '/management/log-levels', { body: { 'http-client': 'debug', auth: null } })).json).to.deep.equal({ '': 'info', 'http-client': 'debug' })
      expect((await bench.send('PUT', '/management/log-levels', { body: { x: 'loud' } })).status).to.equal(400)
      expect(logging.levels()).to.deep.equal({ '': 'info', 'http-client': 'debug' })
    })
  })
})
