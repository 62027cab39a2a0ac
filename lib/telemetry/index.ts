export { openTracing, type Tracing } from './open-tracing.ts'
export { type FinishedSpan, type SpanExporter } from './sdk.ts'
