export { openTracing, type Tracing, type TracingOptions } from './open-tracing.ts'
export { type FinishedSpan, type SpanExporter } from './sdk.ts'
export { type TracedInstance } from './trace.ts'
