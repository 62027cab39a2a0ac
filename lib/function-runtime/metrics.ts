import { Counter, Histogram, Registry } from 'prom-client'

interface Invocation {
  readonly name: string
  readonly form: 'plain' | 'binary' | 'structured'
  readonly status: number
  /** From the arrival of the request to its answer. */
  readonly seconds: number
}

/** Counts invocations by function, form and outcome, with durations (function-runtime.md §6). */
export interface InvocationMetrics {
  /** Notes one answered request. */
  record(invocation: Invocation): void
  /** Renders everything in the Prometheus text format. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** Creates the metrics of one runtime. */
export function createInvocationMetrics(): InvocationMetrics {
  const registry = new Registry()
  const labelNames = ['function', 'form', 'outcome'] as const
  const count = new Counter({
    name: 'sonatina_function_invocations_total',
    help: 'Invocations of functions',
    labelNames,
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'sonatina_function_duration_seconds',
    help: 'Time from the arrival of a request to its answer',
    labelNames,
    registers: [registry],
  })
  return {
    record({ name, form, status, seconds }) {
      const labels = { function: name, form, outcome: status < 400 ? 'ok' : status < 500 ? 'refused' : 'failed' }
      count.inc(labels)
      duration.observe(labels, seconds)
    },
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  }
}
