import { SpanStatusCode } from '@opentelemetry/api'
import type { FinishedSpan } from '../../../../lib/telemetry/index.ts'
import { assertKnown, type Fields, type Step } from '../case-file.ts'
import { CaseFault } from '../case-fault.ts'
import { shorten } from '../match.ts'
import type { World } from '../world.ts'
import type { Faults } from './outcome.ts'

type Spans = readonly FinishedSpan[]
type Check = (spans: Spans, wanted: unknown) => Faults

const INSTANCE = 'sonataflow.process.instance.id'
const PROCESS = 'sonataflow.process.id'
const TRANSACTION = 'sonataflow.transaction.id'
const STATE = 'sonataflow.workflow.state'

/** What the words of the cases stand for. */
const WORDS: Readonly<Record<string, (span: FinishedSpan) => boolean>> = {
  'process instance id': ({ attributes }) => attributes[INSTANCE] !== undefined,
  'process id = greet': ({ attributes }) => attributes[PROCESS] === 'greet',
  'process version = 1.0': ({ attributes }) => attributes['sonataflow.process.version'] === '1.0',
  'process instance state': ({ attributes }) => attributes['sonataflow.process.instance.state'] !== undefined,
  'service name': ({ resource }) => resource.attributes['service.name'] === 'kogito-otel-integration-test',
  'service version': ({ resource }) => resource.attributes['service.version'] === '1.0.0',
  'workflow state name': ({ attributes }) => attributes[STATE] !== undefined,
  'transaction id = X-TRANSACTION-ID': ({ attributes }) => attributes[TRANSACTION] === 'workflow-test-transaction-123',
  'tracker attributes from X-TRACKER-*': ({ attributes }) =>
    attributes['sonataflow.tracker.customer-id'] === 'customer-456' && attributes['sonataflow.tracker.session'] === 'session-789',
}

const EVENTS: Readonly<Record<string, (spans: Spans, wanted: string) => boolean>> = {
  'process.instance.start': (spans) => onlyOn(spans, { event: 'process.instance.start', index: 0 }, (attributes) =>
    attributes['trigger'] === 'http' && attributes['reference.id'] === spans[0]?.attributes[TRANSACTION]),
  // The time of a case stands still while nothing waits: a duration of 0 is right.
  'process.instance.complete': (spans) => onlyOn(spans, { event: 'process.instance.complete', index: spans.length - 1 }, (attributes) =>
    attributes['outcome'] === 'COMPLETED' && Number(attributes['duration.ms']) >= 0),
  'state.started': (spans) => spans.every((span) => span.events.some(({ name }) => name === 'state.started')),
  'state.completed': (spans) => spans.every((span) => span.events.some(({ name }) => name === 'state.completed')),
  'log.message': (spans) => spans.flatMap(({ events }) => events).some(({ name, attributes = {} }) =>
    name === 'log.message' && ['level', 'logger', 'message', 'thread.name'].every((key) => attributes[key] !== undefined)),
}

const CHECKS: Readonly<Record<string, Check>> = {
  namePrefix: (spans, prefix) => unless(spans.every(({ name }) => name.startsWith(String(prefix))), `a span has not the prefix ${String(prefix)}: ${namesOf(spans)}`),
  atLeast: (spans, least) => unless(spans.length >= Number(least), `there are ${spans.length} spans, expected ${String(least)}`),
  sameTraceId: (spans) => unless(distinct(spans, (span) => span.spanContext().traceId).size === 1, 'the spans are of several traces'),
  sameParent: (spans) => unless(distinct(spans, (span) => span.parentSpanContext?.spanId).size === 1, 'the spans have several parents'),
  attributes: (spans, words) => (words as readonly string[]).flatMap((word) => unless(spans.every(known(WORDS, word)), `not all spans tell: ${word}`)),
  events: (spans, events) => Object.entries(events as Fields).flatMap(([name, wanted]) =>
    unless(known(EVENTS, name)(spans, String(wanted)), `the event ${name} is not as wanted: ${String(wanted)}`)),
  names: (spans, names) => (names as readonly string[]).flatMap((name) => unless(spans.some((span) => span.name === name), `there is no span ${name}: ${namesOf(spans)}`)),
  tags: (spans, tags) => Object.entries(tags as Fields).flatMap(([name, value]) => unless(spans.some(({ attributes }) =>
    attributes[name] === (value === '= process instance id' ? attributes[INSTANCE] : value)), `no span has ${name} ${String(value)}`)),
  tagsPresent: (spans, names) => (names as readonly string[]).flatMap((name) => unless(spans.some(({ attributes }) => attributes[name] !== undefined), `no span has ${name}`)),
  states: (spans, states) => unless(JSON.stringify(statesOf(spans)) === JSON.stringify(states), `the states are ${shorten(statesOf(spans))}, expected ${shorten(states)}`),
  statesAtLeast: (spans, states) => (states as readonly string[]).flatMap((state) => unless(statesOf(spans).includes(state), `there is no span of state ${state}: ${shorten(statesOf(spans))}`)),
  transactionId: (spans) => unless(spans.every(({ attributes }) => attributes[TRANSACTION] === attributes[INSTANCE]), 'a transaction id is not the instance id'),
  mainProcess: (spans, id) => unless(spans.some(({ attributes }) => attributes[PROCESS] === id), `there is no span of ${String(id)}`),
  subProcess: (spans, id) => unless(spans.some(({ attributes }) => attributes[PROCESS] === id), `there is no span of ${String(id)}`),
  differentInstanceIds: (spans) => unless(distinct(spans, ({ attributes }) => attributes[INSTANCE]).size > 1, 'all spans are of one instance'),
  'subflow spans are not children of ExecuteSubflow': (spans) => {
    const calling = distinct(spans.filter(({ attributes }) => attributes[STATE] === 'ExecuteSubflow'), (span) => span.spanContext().spanId)
    return unless(!spans.some(({ parentSpanContext }) => parentSpanContext !== undefined && calling.has(parentSpanContext.spanId)), 'a span is a child of ExecuteSubflow')
  },
  'transaction id on all spans': (spans) => unless(spans.every(({ attributes }) => attributes[TRANSACTION] !== undefined), 'a span has no transaction id'),
  noErrorStatus: (spans) => unless(spans.every(({ status }) => status.code !== SpanStatusCode.ERROR), 'a span has status ERROR'),
}

/** Milliseconds of the case's time that spans may take to end. */
const PATIENCE = 10_000

/** `verifySpans`: the spans of states that ended since the last such step, partly in words. */
export async function verifySpansStep(world: World, step: Step): Promise<Faults> {
  const wanted = step['verifySpans'] as Fields
  assertKnown(wanted, Object.keys(CHECKS), 'verifySpans')
  const faults = (): Faults => {
    const spans = world.spans.executions()
    if (spans.length === 0) return ['the product made no spans']
    return Object.entries(wanted).flatMap(([name, value]) => known(CHECKS, name)(spans, value))
  }
  await world.poll(() => (faults().length === 0 ? true : undefined), PATIENCE)
  const left = faults()
  world.spans.clear()
  return left
}

function onlyOn(spans: Spans, { event, index }: { readonly event: string; readonly index: number }, fits: (attributes: Fields) => boolean): boolean {
  return spans.every(({ events }, position) => {
    const found = events.filter(({ name }) => name === event)
    return position === index ? found.length === 1 && found.every(({ attributes = {} }) => fits(attributes)) : found.length === 0
  })
}

function known<T>(table: Readonly<Record<string, T>>, word: string): T {
  const found = table[word]
  if (found === undefined) throw new CaseFault(`this runner does not know the words "${word}"`)
  return found
}

function unless(holds: boolean, fault: string): Faults {
  return holds ? [] : [fault]
}

function distinct<T>(spans: Spans, value: (span: FinishedSpan) => T): ReadonlySet<T> {
  return new Set(spans.map(value))
}

function statesOf(spans: Spans): readonly unknown[] {
  return spans.map(({ attributes }) => attributes[STATE])
}

function namesOf(spans: Spans): string {
  return shorten(spans.map(({ name }) => name))
}
