import type { Attributes, Span, SpanContext, SpanKind, Tracer } from '@opentelemetry/api'
import type { IdGenerator } from '@opentelemetry/sdk-trace-base'
import type { Sdk, SpanExporter } from './sdk.ts'
import type { TracingSettings } from './settings.ts'

/** A span to be started. */
interface NewSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** Absent for the first span of a trace. */
  readonly parent: SpanContext | undefined
  readonly kind: SpanKind
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly attributes: Attributes
}

/** Starts spans whose ids are given, and exports those that have ended. */
export interface SpanSource {
  start(span: NewSpan): Span
  /** Whether a trace that begins here is recorded. */
  isSampled(traceId: string): boolean
  /** Sends what has ended and stops. */
  shutdown(): Promise<void>
}

// Longer values cost more than they tell.
const LONGEST_VALUE = 4096

/**
 * Creates the source of spans.
 *
 * Spans go to `given` one by one as they end, else in batches to the OTLP address of the settings.
 */
export function createSpanSource(sdk: Sdk, { settings, exporter, simple }: { readonly settings: TracingSettings; readonly exporter: SpanExporter; readonly simple: boolean }): SpanSource {
  const { api, resources, trace } = sdk
  const next = { traceId: '', spanId: '' }
  const idGenerator: IdGenerator = { generateTraceId: () => next.traceId, generateSpanId: () => next.spanId }
  const root = new trace.TraceIdRatioBasedSampler(settings.ratio)
  const provider = new trace.BasicTracerProvider({
    resource: resources.defaultResource().merge(resources.resourceFromAttributes(settings.resource)),
    sampler: new trace.ParentBasedSampler({ root }),
    idGenerator,
    spanLimits: { attributeValueLengthLimit: LONGEST_VALUE },
    spanProcessors: [simple ? new trace.SimpleSpanProcessor(exporter) : new trace.BatchSpanProcessor(exporter)],
  })
  const tracer: Tracer = provider.getTracer('sonatina')
  return {
    start({ name, traceId, spanId, parent, kind, at, attributes }) {
      // Starting is synchronous: nobody else takes these.
      next.traceId = traceId
      next.spanId = spanId
      const context = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent)
      return tracer.startSpan(name, { kind, attributes, startTime: new Date(at) }, context)
    },
    isSampled: (traceId) => root.shouldSample(api.ROOT_CONTEXT, traceId).decision === trace.SamplingDecision.RECORD_AND_SAMPLED,
    shutdown: () => provider.shutdown(),
  }
}
