import { createHash } from 'node:crypto'
import type { SpanContext } from '@opentelemetry/api'
import type { Sdk } from './sdk.ts'

/** What tracing reads of an instance. */
export interface TracedInstance {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  /** Headers of the request or attributes of the event that started it, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly parent?: { readonly instanceId: string; readonly rootInstanceId: string }
}

/** The trace that an instance belongs to. */
export interface InstanceTrace {
  /** Span of the caller, from `traceparent` and `tracestate`. */
  readonly caller: SpanContext | undefined
  /** Context of the first span of this instance. */
  readonly own: SpanContext
  /** Context of the first span of the outermost instance: that of the instance itself when it is no sub-flow. */
  readonly root: SpanContext
}

/**
 * Finds the trace of an instance without keeping anything.
 *
 * Ids are digests of instance ids: what resumes after a restart, in this process or another one, goes on in the same trace.
 *
 * `isSampled` decides about traces that begin here (W3C Trace Context, section 3.2).
 */
export function traceOf({ api, core }: Sdk, instance: TracedInstance, isSampled: (traceId: string) => boolean): InstanceTrace {
  const rootId = instance.parent?.rootInstanceId ?? instance.id
  const extracted = new core.W3CTraceContextPropagator().extract(api.ROOT_CONTEXT, instance.headers, api.defaultTextMapGetter)
  const caller = api.trace.getSpanContext(extracted)
  const traceId = caller?.traceId ?? digest(rootId, 32)
  const common = {
    traceId,
    traceFlags: caller?.traceFlags ?? (isSampled(traceId) ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE),
    ...(caller?.traceState === undefined ? {} : { traceState: caller.traceState }),
  }
  const own = { ...common, spanId: instanceSpanId(instance.id) }
  return { caller, own, root: { ...common, spanId: instanceSpanId(rootId) } }
}

/** Gives the id of the span that a step opens: the same step always gives the same. */
export function stepSpanId(instanceId: string, sequence: number, kind: 'instance' | 'state' | 'action'): string {
  return digest(`${instanceId}/${String(sequence)}/${kind}`, 16)
}

function instanceSpanId(instanceId: string): string {
  return digest(`${instanceId}/instance`, 16)
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
