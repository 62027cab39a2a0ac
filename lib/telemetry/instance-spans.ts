import type { Attributes, Span, SpanContext, SpanKind } from '@opentelemetry/api'
import type { HistoryStep } from '../hosts/index.ts'
import { errorAttributes, INSTANCE_STATE, instanceAttributes, transactionId, triggerOf, type ErrorAttributes, type TracedState } from './attributes.ts'
import type { Sdk } from './sdk.ts'
import type { TracingSettings } from './settings.ts'
import { stepSpanId, traceOf, type InstanceTrace, type TracedInstance } from './trace.ts'
import type { SpanSource } from './tracer.ts'

/** What the spans of an instance are made with. */
export interface SpanParts {
  readonly sdk: Sdk
  readonly source: SpanSource
  readonly settings: TracingSettings
}

/** How spans end. */
export interface End {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly state: TracedState
  readonly error?: ErrorAttributes
}

const FAILURES: ReadonlySet<TracedState> = new Set(['ERROR', 'ABORTED'])

/** The open spans of one instance: its own, that of its present state, and those of the actions that run. */
export class InstanceSpans {
  readonly #parts: SpanParts
  readonly #instance: TracedInstance
  readonly #trace: InstanceTrace
  readonly #span: Span
  readonly #startedAt: number
  #state: { readonly name: string; readonly span: Span } | undefined
  #announced: boolean
  readonly #actions = new Map<string, Span[]>()

  /**
   * Opens the span of an instance with the first step that is seen of it.
   *
   * A step other than `started` means that it was resumed: it gets a further span, below its first one.
   */
  constructor(parts: SpanParts, instance: TracedInstance, first: HistoryStep) {
    const { sdk, source, settings } = parts
    this.#parts = parts
    this.#instance = instance
    this.#trace = traceOf(sdk, instance, (traceId) => source.isSampled(traceId))
    this.#startedAt = first.at
    const { own, root, caller } = this.#trace
    const resumed = first.type !== 'started'
    const above = instance.parent === undefined ? caller : root
    this.#announced = resumed || !settings.events
    this.#span = source.start({
      name: `sonataflow.process.${instance.workflowId}`,
      traceId: own.traceId,
      spanId: resumed ? stepSpanId(instance.id, first.sequence, 'instance') : own.spanId,
      parent: resumed ? own : above,
      kind: this.#kind(),
      at: first.at,
      attributes: { ...instanceAttributes(instance), ...(resumed ? { 'sonatina.resumed': true } : {}) },
    })
    if (resumed && first.state !== undefined && first.type !== 'stateEntered') this.#enter(first, first.state)
  }

  /** Takes a step into account; gives true when the instance has ended or failed, and its spans with it. */
  take(step: HistoryStep): boolean {
    switch (step.type) {
      case 'stateEntered':
        this.#leave({ at: step.at, state: 'ACTIVE' })
        this.#enter(step, step.state ?? '')
        return false
      case 'actionStarted':
        this.#startAction(step)
        return false
      case 'actionCompleted':
      case 'actionFailed':
        this.#endAction(step)
        return false
      case 'completed':
        return this.end({ at: step.at, state: 'COMPLETED' })
      case 'aborted':
        return this.end({ at: step.at, state: 'ABORTED' })
      case 'failed':
        return this.end({ at: step.at, state: 'ERROR', error: errorAttributes(step.detail) })
      default:
        this.#note(step)
        return false
    }
  }

  /** Ends all that is open; always gives true. */
  end(end: End): true {
    if (end.state !== 'ACTIVE') this.#tellEnd(end)
    this.#leave(end)
    this.#close(this.#span, end)
    return true
  }

  /** Gives the span that a call of an action belongs to. */
  callSpan(state: string, action: string | undefined): SpanContext {
    return (this.#actions.get(`${state}/${action ?? ''}`)?.at(-1) ?? this.#state?.span ?? this.#span).spanContext()
  }

  /** Adds a log line to the span of the present state. */
  log(at: number, attributes: Attributes): void {
    this.#event('log.message', at, attributes)
  }

  #enter(step: HistoryStep, name: string): void {
    const { source, settings } = this.#parts
    const { workflowId, id } = this.#instance
    const parent = settings.flat ? this.#trace.root : this.#span.spanContext()
    const span = source.start({
      name: `sonataflow.process.${workflowId}.execute`,
      traceId: parent.traceId,
      spanId: stepSpanId(id, step.sequence, 'state'),
      parent,
      kind: this.#parts.sdk.api.SpanKind.INTERNAL,
      at: step.at,
      attributes: { ...instanceAttributes(this.#instance), 'sonataflow.workflow.state': name },
    })
    this.#state = { name, span }
    if (!this.#announced) this.#tellStart(step.at)
    this.#event('state.started', step.at, { 'event.description': `State execution started: ${name}` })
  }

  #leave(end: End): void {
    const { at, state } = end
    for (const spans of this.#actions.values()) for (const span of spans) this.#close(span, end)
    this.#actions.clear()
    if (this.#state === undefined) return
    if (!FAILURES.has(state)) this.#event('state.completed', at, { 'event.description': `State execution completed: ${this.#state.name}` })
    this.#close(this.#state.span, end)
    this.#state = undefined
  }

  #close(span: Span, { at, state, error }: End): void {
    span.setAttribute(INSTANCE_STATE, state)
    if (error !== undefined) this.#fail(span, error)
    span.end(new Date(at))
  }

  #fail(span: Span, error: ErrorAttributes): void {
    span.setAttributes(error)
    span.setStatus({ code: this.#parts.sdk.api.SpanStatusCode.ERROR, message: error['error.message'] })
  }

  #startAction(step: HistoryStep): void {
    const { state = '', action = '', branch, nodeId = action } = step
    const parent = (this.#state?.span ?? this.#span).spanContext()
    const span = this.#parts.source.start({
      name: nodeId,
      traceId: parent.traceId,
      spanId: stepSpanId(this.#instance.id, step.sequence, 'action'),
      parent,
      kind: this.#parts.sdk.api.SpanKind.INTERNAL,
      at: step.at,
      attributes: {
        ...instanceAttributes(this.#instance),
        'sonataflow.workflow.state': state,
        'sonatina.action': action,
        ...(branch === undefined ? {} : { 'sonatina.branch': branch }),
      },
    })
    const key = `${state}/${action}`
    const running = this.#actions.get(key)
    if (running === undefined) this.#actions.set(key, [span])
    else running.push(span)
  }

  // Iterations of one action run at a time and are alike: the oldest is as good as another.
  #endAction({ state = '', action = '', type, at, detail }: HistoryStep): void {
    const key = `${state}/${action}`
    const running = this.#actions.get(key)
    const span = running?.shift()
    if (running?.length === 0) this.#actions.delete(key)
    if (span === undefined) return
    if (type === 'actionFailed') this.#fail(span, errorAttributes(detail))
    span.end(new Date(at))
  }

  #note({ type, at, detail, nodeId }: HistoryStep): void {
    if (type !== 'eventConsumed' && type !== 'eventProduced' && type !== 'timerFired' && type !== 'actionRetried') return
    const attributes: Attributes = nodeId === undefined ? {} : { 'sonatina.node': nodeId }
    for (const name of ['type', 'id', 'attempt', 'delay']) {
      const value = detail?.[name]
      if (typeof value === 'string' || typeof value === 'number') attributes[`sonatina.${name}`] = value
    }
    this.#event(EVENTS[type], at, attributes)
  }

  #tellStart(at: number): void {
    this.#announced = true
    this.#event('process.instance.start', at, {
      'process.instance.id': this.#instance.id,
      trigger: triggerOf(this.#instance),
      'reference.id': transactionId(this.#instance),
    })
  }

  #tellEnd({ at, state, error }: End): void {
    const common = { 'process.instance.id': this.#instance.id, 'reference.id': transactionId(this.#instance) }
    if (error !== undefined) this.#event('process.instance.error', at, { ...common, ...error })
    else this.#event('process.instance.complete', at, { ...common, outcome: state, 'duration.ms': at - this.#startedAt })
  }

  #event(name: string, at: number, attributes: Attributes): void {
    if (this.#parts.settings.events) (this.#state?.span ?? this.#span).addEvent(name, attributes, new Date(at))
  }

  #kind(): SpanKind {
    const { SpanKind: kind } = this.#parts.sdk.api
    const kinds = { http: kind.SERVER, event: kind.CONSUMER, subflow: kind.INTERNAL, internal: kind.INTERNAL }
    return kinds[triggerOf(this.#instance)]
  }
}

const EVENTS = { eventConsumed: 'event.consumed', eventProduced: 'event.produced', timerFired: 'timer.fired', actionRetried: 'action.retried' } as const
