import type * as Api from '@opentelemetry/api'
import type * as Core from '@opentelemetry/core'
import type * as Otlp from '@opentelemetry/exporter-trace-otlp-http'
import type * as Resources from '@opentelemetry/resources'
import type * as Trace from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'

export type { SpanExporter } from '@opentelemetry/sdk-trace-base'

/** A span that has ended, as an exporter receives it. */
export type FinishedSpan = ReadableSpan

/** The packages of OpenTelemetry that tracing is made with. */
export interface Sdk {
  readonly api: typeof Api
  readonly core: typeof Core
  readonly otlp: typeof Otlp
  readonly resources: typeof Resources
  readonly trace: typeof Trace
}

/**
 * Loads the packages of OpenTelemetry; only called where tracing is on, since they cost time and memory.
 *
 * @throws when one of the optional packages is not installed
 */
export async function loadSdk(): Promise<Sdk> {
  const [api, core, otlp, resources, trace] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
  ])
  return { api, core, otlp, resources, trace }
}
