import { ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { silentLogger, type Json } from '../../../lib/common/index.ts'
import type { Runtime, RuntimeOptions } from '../../../lib/runtime-options.ts'
import { createRuntime } from '../../../lib/runtime.ts'
import { createVirtualClock, type VirtualClock } from '../../support/clock.ts'

/** A runtime whose spans a test reads. */
export interface Traced {
  readonly runtime: Runtime
  readonly clock: VirtualClock
  /** Spans that have ended, oldest first. */
  readonly spans: () => readonly ReadableSpan[]
  /** Spans of that name. */
  readonly named: (name: string) => readonly ReadableSpan[]
}

/** Starts a runtime in memory with one definition and tracing on. */
export async function startTraced(definition: object | readonly object[], options: Partial<RuntimeOptions> = {}): Promise<Traced> {
  const ended: ReadableSpan[] = []
  const clock = createVirtualClock()
  const documents = (Array.isArray(definition) ? definition : [definition]) as readonly Json[]
  const runtime = await createRuntime({
    definitions: documents.map((document, index) => ({ uri: `memory:${String(index)}.sw.json`, document })),
    environment: {},
    profile: 'test',
    clock,
    log: silentLogger,
    spanExporter: {
      export(spans, done) {
        ended.push(...spans)
        done({ code: ExportResultCode.SUCCESS })
      },
      shutdown: () => Promise.resolve(),
    },
    strict: true,
    ...options,
    settings: { 'sonatina.store': 'memory', 'sonatina.otel.enabled': true, ...options.settings },
  })
  return { runtime, clock, spans: () => ended, named: (name) => ended.filter((span) => span.name === name) }
}

/** Gives the values of one attribute. */
export function attributeOf(spans: readonly ReadableSpan[], name: string): readonly unknown[] {
  return spans.map(({ attributes }) => attributes[name])
}
