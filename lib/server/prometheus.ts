import type { MetricType, Registry } from 'prom-client'
import { DURATION_BOUNDS, NODE_BOUNDS, type ServerMetrics, type Tally, type WorkflowTally } from './metrics.ts'

/** Text of a scrape with its media type. */
export interface Scrape {
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
  let registry: Promise<Registry> | undefined
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
const HISTOGRAM = 'histogram' as unknown as MetricType

async function createRegistry(metrics: ServerMetrics, application: { readonly name: string }): Promise<Registry> {
  const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = await import('prom-client')
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const labelsOf = (tally: WorkflowTally): Labels => (
    { process_id: tally.workflowId, version: tally.version, app_id: application.name, artifactId: application.name }
  )
  const labelNames = ['process_id', 'version', 'app_id', 'artifactId']

  const count = (name: string, help: string, read: (tally: WorkflowTally) => Iterable<[Labels, number]>, extra: string[] = []): void => {
    for (const prefix of PREFIXES) {
      registry.registerMetric(new Counter({
        name: `${prefix}_${name}`,
        help,
        labelNames: [...labelNames, ...extra],
        registers: [],
        collect() {
          this.reset()
          for (const tally of metrics.tallies()) for (const [labels, value] of read(tally)) this.inc({ ...labelsOf(tally), ...labels }, value)
        },
      }))
    }
  }
  const distribute = (name: string, help: string, bounds: readonly number[], read: (tally: WorkflowTally) => Iterable<[Labels, Tally]>, extra: string[] = []): void => {
    for (const prefix of PREFIXES) {
      const full = `${prefix}_${name}`
      // prom-client hashes the labels on every observation; ours are counted beforehand and only told here.
      class TalliedHistogram extends Histogram {
        override get(): ReturnType<InstanceType<typeof Histogram>['get']> {
          const values = [...metrics.tallies()].flatMap((tally) =>
            [...read(tally)].flatMap(([labels, counted]) => toSamples(full, { ...labelsOf(tally), ...labels }, bounds, counted)))
          return Promise.resolve({ name: full, help, type: HISTOGRAM, aggregator: 'sum', collect: () => undefined, values })
        }

        /** prom-client prefers this one to `get` when it writes text. */
        getForPromString(): ReturnType<InstanceType<typeof Histogram>['get']> {
          return this.get()
        }
      }
      registry.registerMetric(new TalliedHistogram({ name: full, help, labelNames: [...labelNames, ...extra], buckets: [...bounds], registers: [] }))
    }
  }

  count('process_instance_started_total', 'Instances started', (tally) => [[{}, tally.started]])
  for (const prefix of PREFIXES) {
    registry.registerMetric(new Gauge({
      name: `${prefix}_process_instance_running_total`,
      help: 'Instances that live',
      labelNames,
      registers: [],
      collect() {
        this.reset()
        for (const tally of metrics.tallies()) this.set(labelsOf(tally), tally.running)
      },
    }))
  }
  count('process_instance_completed_total', 'Instances that ended, by status', (tally) => label(tally.ended, 'process_state'), ['process_state'])
  count('process_instance_error_total', 'Failures of instances, by error code', (tally) => label(tally.errors, 'error_message'), ['error_message'])
  distribute('process_instance_duration_seconds', 'Time from start to end of instances', DURATION_BOUNDS, (tally) => [[{}, tally.duration]])
  distribute('node_instance_duration_milliseconds', 'Time in states', NODE_BOUNDS, (tally) =>
    [...tally.nodes].map(([node, counted]) => [{ node_name: node }, counted] as [Labels, Tally]), ['node_name'])
  return registry
}

function label(counts: ReadonlyMap<string, number>, name: string): [Labels, number][] {
  return [...counts].map(([key, value]) => [{ [name]: key }, value])
}

interface Sample {
  readonly labels: Record<string, string | number>
  readonly value: number
  readonly metricName: string
}

function toSamples(name: string, labels: Labels, bounds: readonly number[], tally: Tally): Sample[] {
  let below = 0
  const buckets = tally.counts.map((counted, index) => {
    below += counted
    return { labels: { le: bounds[index] ?? '+Inf', ...labels }, value: below, metricName: `${name}_bucket` }
  })
  return [...buckets, { labels, value: tally.sum, metricName: `${name}_sum` }, { labels, value: tally.count, metricName: `${name}_count` }]
}
