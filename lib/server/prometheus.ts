import type * as Client from 'prom-client'
import { DURATION_BOUNDS, NODE_BOUNDS, type ServerMetrics, type Tally, type WorkflowTally } from './metrics.ts'

/** Text of a scrape with its media type. */
interface Scrape {
  readonly contentType: string
  readonly text: string
}

/** Writes the counters of a server, and those of the Node process, as Prometheus text. */
export interface Prometheus {
  scrape(): Promise<Scrape>
}

/** SonataFlow's names and ours carry the same figures (http-contract.md §7). */
const PREFIXES = ['kogito', 'sonatina'] as const

/** Creates the writer; prom-client is loaded by the first scrape. */
export function createPrometheus(metrics: ServerMetrics, application: { readonly name: string }): Prometheus {
  let registry: Promise<Client.Registry> | undefined
  return {
    async scrape() {
      registry ??= createRegistry(metrics, application)
      const ready = await registry
      return { contentType: ready.contentType, text: await ready.metrics() }
    },
  }
}

type Labels = Record<string, string>

// prom-client declares an enumeration that it does not export; the values are these words.
const HISTOGRAM = 'histogram' as unknown as Client.MetricType

/** A figure to publish: what it is called, and how it is read off the counters of one definition. */
interface Figure<Value> {
  readonly name: string
  readonly help: string
  /** Label that tells the values of one definition apart. */
  readonly label?: string
  readonly read: (tally: WorkflowTally) => Iterable<readonly [label: string, value: Value]>
}

const COUNTERS: readonly Figure<number>[] = [
  { name: 'process_instance_started_total', help: 'Instances started', read: (tally) => [['', tally.started]] },
  { name: 'process_instance_completed_total', help: 'Instances that ended, by status', label: 'process_state', read: (tally) => tally.ended },
  { name: 'process_instance_error_total', help: 'Failures of instances, by error code', label: 'error_message', read: (tally) => tally.errors },
]

const RUNNING: Figure<number> = { name: 'process_instance_running_total', help: 'Instances that live', read: (tally) => [['', tally.running]] }

const HISTOGRAMS: readonly (Figure<Tally> & { readonly bounds: readonly number[] })[] = [
  { name: 'process_instance_duration_seconds', help: 'Time from start to end of instances', bounds: DURATION_BOUNDS, read: (tally) => [['', tally.duration]] },
  { name: 'node_instance_duration_milliseconds', help: 'Time in states and actions', bounds: NODE_BOUNDS, label: 'node_name', read: (tally) => tally.nodes },
]

const LABELS = ['process_id', 'version', 'app_id', 'artifactId']

async function createRegistry(metrics: ServerMetrics, application: { readonly name: string }): Promise<Client.Registry> {
  const client = await import('prom-client')
  const registry = new client.Registry()
  client.collectDefaultMetrics({ register: registry })
  const samples = function* <Value>({ label, read }: Figure<Value>): Generator<[Labels, Value]> {
    for (const tally of metrics.tallies()) {
      const labels = { process_id: tally.workflowId, version: tally.version, app_id: application.name, artifactId: application.name }
      for (const [value, counted] of read(tally)) yield [label === undefined ? labels : { ...labels, [label]: value }, counted]
    }
  }
  for (const prefix of PREFIXES) {
    for (const figure of COUNTERS) {
      registry.registerMetric(new client.Counter({
        ...head(prefix, figure),
        collect() {
          this.reset()
          for (const [labels, value] of samples(figure)) this.inc(labels, value)
        },
      }))
    }
    registry.registerMetric(new client.Gauge({
      ...head(prefix, RUNNING),
      collect() {
        this.reset()
        for (const [labels, value] of samples(RUNNING)) this.set(labels, value)
      },
    }))
    for (const figure of HISTOGRAMS) registry.registerMetric(createHistogram(client, prefix, { ...figure, samples: () => samples(figure) }))
  }
  return registry
}

function head(prefix: string, { name, help, label }: Omit<Figure<unknown>, 'read'>): { name: string; help: string; labelNames: string[]; registers: [] } {
  return { name: `${prefix}_${name}`, help, labelNames: label === undefined ? LABELS : [...LABELS, label], registers: [] }
}

type HistogramValue = ReturnType<Client.Histogram['get']>

function createHistogram({ Histogram }: typeof Client, prefix: string, figure: (typeof HISTOGRAMS)[number] & { readonly samples: () => Iterable<[Labels, Tally]> }): Client.Histogram {
  const { name, help, ...rest } = head(prefix, figure)
  // prom-client hashes the labels on every observation; ours are counted beforehand and only told here.
  class TalliedHistogram extends Histogram {
    override get(): HistogramValue {
      const values = [...figure.samples()].flatMap(([labels, tally]) => toSamples({ name, labels, bounds: figure.bounds, tally }))
      return Promise.resolve({ name, help, type: HISTOGRAM, aggregator: 'sum', collect: () => undefined, values })
    }

    /** prom-client prefers this one to `get` when it writes text. */
    getForPromString(): HistogramValue {
      return this.get()
    }
  }
  return new TalliedHistogram({ name, help, ...rest, buckets: [...figure.bounds] })
}

interface Sample {
  readonly labels: Record<string, string | number>
  readonly value: number
  readonly metricName: string
}

function toSamples({ name, labels, bounds, tally }: { name: string; labels: Labels; bounds: readonly number[]; tally: Tally }): Sample[] {
  let below = 0
  const buckets = tally.counts.map((counted, index) => {
    below += counted
    return { labels: { le: bounds[index] ?? '+Inf', ...labels }, value: below, metricName: `${name}_bucket` }
  })
  return [...buckets, { labels, value: tally.sum, metricName: `${name}_sum` }, { labels, value: tally.count, metricName: `${name}_count` }]
}
