import { ExportResultCode } from '@opentelemetry/core'
import type { FinishedSpan, SpanExporter } from '../../../lib/telemetry/index.ts'

/** Spans that the product has ended since the store was cleared. */
export class SpanStore {
  private spans: FinishedSpan[] = []

  /** Receives the spans of the product. */
  readonly exporter: SpanExporter = {
    export: (spans, done) => {
      this.spans.push(...spans)
      done({ code: ExportResultCode.SUCCESS })
    },
    shutdown: () => Promise.resolve(),
  }

  /** Gives the spans of states, which SonataFlow calls executions of a process. */
  executions(): readonly FinishedSpan[] {
    return this.spans.filter(({ name }) => /^sonataflow\.process\..+\.execute$/.test(name))
  }

  clear(): void {
    this.spans = []
  }
}
