import type { Logger } from '../common/index.ts'
import type { Sdk, SpanExporter } from './sdk.ts'

/** Warns when spans do not arrive: once, and again only after some have arrived. */
export function warnOnFailure({ core }: Sdk, exporter: SpanExporter, { log, address }: { readonly log: Logger; readonly address: string }): SpanExporter {
  let failing = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== core.ExportResultCode.SUCCESS
        if (failed && !failing) {
          log.warn(
            { reason: result.error?.message ?? 'unknown' },
            `spans do not arrive at ${address}, and are dropped; let sonatina.otel.exporter.otlp.endpoint name a collector that takes OTLP over HTTP (usually port 4318)`,
          )
        }
        failing = failed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush === undefined ? {} : { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  }
}
