import { TurnoverMap, type Clock, type Logger } from '../common/index.ts'
import type { Settings } from '../configuration/index.ts'
import type { CallContext, FunctionCompiler } from '../functions/index.ts'
import type { HistoryStep } from '../hosts/index.ts'
import { warnOnFailure } from './exporter.ts'
import { InstanceSpans, type SpanParts } from './instance-spans.ts'
import { loadSdk, type Sdk, type SpanExporter } from './sdk.ts'
import { resolveTracingSettings, type TracingSettings } from './settings.ts'
import type { TracedInstance } from './trace.ts'
import { traceFunctions } from './trace-functions.ts'
import { createSpanSource } from './tracer.ts'

/** What tracing needs. */
export interface TracingOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Logger
  /** Receives each span as it ends, in place of the exporter of the settings. */
  readonly exporter?: SpanExporter
}

/** Tells a collector what instances do. */
export interface Tracing {
  /** Takes a step of an instance into account. */
  step(step: HistoryStep, instance: TracedInstance): void
  /** Gives functions whose remote calls carry the trace, and whose log lines become span events. */
  traced(compiler: FunctionCompiler): FunctionCompiler
  /** Ends what is open, sends it within so many milliseconds, and stops. Never rejects. */
  close(graceMilliseconds: number): Promise<void>
}

/** Instances whose spans are open at most; beyond it those of the oldest end early. */
const OPEN_INSTANCES = 10_000

/**
 * Opens tracing, where the settings or an exporter ask for it; otherwise nothing is loaded.
 *
 * Without the packages of OpenTelemetry it warns and gives `undefined` too.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for wrong settings
 */
export async function openTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { log } = options
  const settings = resolveTracingSettings(options.settings)
  if (settings === undefined) return undefined
  const sdk = await loadSdk().catch((error: unknown) => {
    log.warn({ reason: String(error) }, 'a package of OpenTelemetry cannot be loaded: there are no traces; install the optional dependencies')
    return undefined
  })
  return sdk === undefined ? undefined : createTracing(sdk, settings, options)
}

function createTracing(sdk: Sdk, settings: TracingSettings, { exporter, clock, log }: TracingOptions): Tracing {
  const address = new URL(settings.url).origin
  const target = exporter ?? warnOnFailure(sdk, new sdk.otlp.OTLPTraceExporter({ url: settings.url }), { log, address })
  const source = createSpanSource(sdk, { settings, exporter: target, simple: exporter !== undefined })
  const parts: SpanParts = { sdk, source, settings }
  const open = new TurnoverMap<string, InstanceSpans>()
  const propagator = new sdk.core.W3CTraceContextPropagator()
  const begin = (step: HistoryStep, instance: TracedInstance): InstanceSpans => {
    const spans = new InstanceSpans(parts, instance, step)
    open.set(instance.id, spans)
    const [oldest] = open
    if (open.size > OPEN_INSTANCES && oldest !== undefined) {
      open.delete(oldest[0])
      oldest[1].end({ at: step.at, state: 'ACTIVE' })
    }
    return spans
  }
  const headersOf = ({ instanceId, state, action }: CallContext): Readonly<Record<string, string>> | undefined => {
    const spans = open.get(instanceId)
    if (spans === undefined) return undefined
    const headers: Record<string, string> = {}
    const { api } = sdk
    propagator.inject(api.trace.setSpanContext(api.ROOT_CONTEXT, spans.callSpan(state, action)), headers, api.defaultTextMapSetter)
    return headers
  }
  return {
    step(step, instance) {
      const spans = open.get(instance.id) ?? begin(step, instance)
      if (spans.take(step)) open.delete(instance.id)
    },
    traced: (compiler) => traceFunctions(compiler, {
      headersOf,
      note(instanceId, attributes) { open.get(instanceId)?.log(clock.now(), attributes) },
    }),
    async close(graceMilliseconds) {
      for (const [id, spans] of open) {
        spans.end({ at: clock.now(), state: 'ACTIVE' })
        open.delete(id)
      }
      if (!await finishes(source.shutdown(), { graceMilliseconds, clock })) {
        log.warn({ graceMilliseconds }, `the last spans did not arrive at ${address} before the stop, and are lost`)
      }
    },
  }
}

/** Waits for work, but not longer than so many milliseconds; tells whether it was done. */
function finishes(work: Promise<void>, { graceMilliseconds, clock }: { readonly graceMilliseconds: number; readonly clock: Clock }): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.at(clock.now() + graceMilliseconds, () => { resolve(false) })
    // What the exporter could not send, it has told.
    void work.catch(() => undefined).then(() => { resolve(true) }).finally(cancel)
  })
}
