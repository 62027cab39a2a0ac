import type { Json } from '../common/index.ts'
import type { Catalogue, Definition } from '../definition/index.ts'
import { InstanceError, RequestError } from '../errors/index.ts'
import type { HistoryStep, Host, InstanceRecord, InstanceStatus, WaitRecord } from '../hosts/index.ts'
import { createDiagram } from './diagram/draw.ts'
import { toPath, type Path } from './path.ts'
import type { Recorder, Recording } from './recorder.ts'
import type { Redact } from './redact.ts'
import { toMessages, toTimeline, type Message, type StateVisit } from './timeline.ts'

/** An instance as the list shows it. */
interface InstanceSummary {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly status: InstanceStatus
  readonly startedAt: number
  readonly endedAt?: number
  readonly businessKey?: string
  readonly parentInstanceId?: string
}

/** Everything that is known of an instance: what the page shows and the download holds. */
interface InstanceView extends InstanceSummary {
  readonly input: Json
  readonly output: Json
  readonly error?: Json
  readonly waitingFor: readonly WaitRecord[]
  readonly steps: readonly HistoryStep[]
  /** Steps that are no longer kept. */
  readonly dropped: number
  readonly timeline: readonly StateVisit[]
  readonly messages: readonly Message[]
  readonly path: Path
  /** Sub-flow instances that it started, as far as they are known. */
  readonly children: readonly { readonly id: string; readonly workflowId: string; readonly status: InstanceStatus }[]
}

/** Which instances to list. */
interface ListQuery {
  readonly workflowId?: string
  readonly status?: readonly InstanceStatus[]
  /** Part of an id or business key. */
  readonly text?: string
  readonly limit: number
  /** From the page before. */
  readonly before?: string
}

/** A page of instances, newest first. */
interface SummaryPage {
  readonly instances: readonly InstanceSummary[]
  /** Asks for the next page. */
  readonly next?: string
}

/** Reads instances from the recorder and from the host: of this process and of earlier ones. */
export interface InstanceReader {
  list(query: ListQuery): Promise<SummaryPage>
  /** @throws {@link InstanceError} `INSTANCE_NOT_FOUND` */
  view(id: string): Promise<InstanceView>
  /** @throws {@link InstanceError} `INSTANCE_NOT_FOUND` */
  summary(id: string): Promise<InstanceSummary>
}

/** Parts of an {@link InstanceReader}. */
export interface InstanceReaderOptions {
  readonly host: Host
  readonly catalogue: Catalogue
  readonly recorder: Recorder
  readonly redact: Redact
}

/** Records that a search looks through at most. */
const MOST_SEARCHED = 5000
const HOST_PAGE = 200

/** Creates an {@link InstanceReader}. */
export function createInstanceReader({ host, catalogue, recorder, redact }: InstanceReaderOptions): InstanceReader {
  const find = async (id: string): Promise<{ recording?: Recording; record?: InstanceRecord }> => {
    const recording = recorder.find(id)
    if (recording !== undefined) {
      const record = await host.find(recording.workflowId, id)
      return { recording, ...(record === undefined ? {} : { record }) }
    }
    for (const { definition } of catalogue.list()) {
      const record = await host.find(definition.id, id)
      if (record !== undefined) return { record }
    }
    return {}
  }
  return {
    async list(query) {
      const recorded = [...recorder.recordings()].map(toSummary).filter((each) => fits(each, query))
      const known = new Set(recorded.map(({ id }) => id))
      const stored = await fromHost(host, query, known)
      const sorted = [...recorded, ...stored].sort(newestFirst)
      const instances = sorted.slice(0, query.limit)
      const last = instances.at(-1)
      return last !== undefined && sorted.length > query.limit ? { instances, next: toCursor(last) } : { instances }
    },
    async summary(id) {
      const { recording, record } = await find(id)
      if (recording !== undefined) return toSummary(recording)
      if (record !== undefined) return ofRecord(record)
      throw notFound(id)
    },
    async view(id) {
      const { recording, record } = await find(id)
      const summary = recording === undefined ? record === undefined ? undefined : ofRecord(record) : toSummary(recording)
      if (summary === undefined) throw notFound(id)
      const stored = recording === undefined || recording.dropped > 0 || recording.steps[0]?.type !== 'started' ? await host.history(summary.workflowId, id) : []
      const steps = stored.length > 0 ? stored : recording?.steps ?? []
      const definition = (catalogue.find(summary.workflowId, summary.version) ?? catalogue.find(summary.workflowId))?.definition
      const children = [...recorder.recordings()].filter(({ parentInstanceId }) => parentInstanceId === id)
        .map(({ id: child, workflowId, status }) => ({ id: child, workflowId, status }))
      const facts = { summary, steps, definition, dropped: stored.length > 0 ? 0 : recording?.dropped ?? 0 }
      return { ...toView(facts, record, recording, redact), children }
    },
  }
}

interface Facts {
  readonly summary: InstanceSummary
  readonly steps: readonly HistoryStep[]
  readonly definition: Definition | undefined
  readonly dropped: number
}

function toView({ summary, steps, definition, dropped }: Facts, record: InstanceRecord | undefined, recording: Recording | undefined, redact: Redact): Omit<InstanceView, 'children'> {
  const timeline = toTimeline(steps, summary.status, definition)
  const failure = record?.failure ?? recording?.failure ?? steps.findLast(({ type }) => type === 'failed')?.detail
  const output = steps.findLast(({ type }) => type === 'completed')?.data ?? record?.data ?? null
  return {
    ...summary,
    input: redact(steps.find(({ type }) => type === 'started')?.data ?? null),
    output: redact(output),
    ...(failure === undefined ? {} : { error: redact.words(failure) }),
    waitingFor: record?.waitingFor ?? recording?.waitingFor ?? [],
    steps: steps.map((step) => shownStep(step, redact)),
    dropped,
    timeline: timeline.map((visit) => shownVisit(visit, redact)),
    messages: toMessages(steps, timeline).map((message) => ({ ...message, text: textFor(message.text, redact) })),
    path: definition === undefined ? { nodes: {}, edges: [] } : toPath(createDiagram(definition), timeline, summary.status),
  }
}

function shownStep({ data, detail, ...step }: HistoryStep, redact: Redact): HistoryStep {
  return {
    ...step,
    ...(data === undefined ? {} : { data: redact(data) }),
    ...(detail === undefined ? {} : { detail: redact.words(detail) as NonNullable<HistoryStep['detail']> }),
  }
}

function shownVisit(visit: StateVisit, redact: Redact): StateVisit {
  return {
    ...visit,
    ...(visit.before === undefined ? {} : { before: redact(visit.before) }),
    ...(visit.after === undefined ? {} : { after: redact(visit.after) }),
    actions: visit.actions.map((action) => ({
      ...action,
      ...(action.result === undefined ? {} : { result: redact(action.result) }),
      ...(action.error === undefined ? {} : { error: redact.words(action.error) as NonNullable<typeof action.error> }),
    })),
  }
}

function textFor(text: string, redact: Redact): string {
  const shown = redact.words(text)
  return typeof shown === 'string' ? shown : ''
}

function toSummary({ id, workflowId, version, status, startedAt, endedAt, businessKey, parentInstanceId }: Recording): InstanceSummary {
  return {
    id, workflowId, version, status, startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(businessKey === undefined ? {} : { businessKey }),
    ...(parentInstanceId === undefined ? {} : { parentInstanceId }),
  }
}

function ofRecord({ id, workflowId, version, status, startedAt, endedAt, businessKey, parentInstanceId }: InstanceRecord): InstanceSummary {
  return {
    id, workflowId, version, status, startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(businessKey === undefined ? {} : { businessKey }),
    ...(parentInstanceId === undefined ? {} : { parentInstanceId }),
  }
}

async function fromHost(host: Host, query: ListQuery, known: ReadonlySet<string>): Promise<InstanceSummary[]> {
  const found: InstanceSummary[] = []
  const before = query.before === undefined ? undefined : fromCursor(query.before)
  let cursor: string | undefined
  let looked = 0
  do {
    const page = await host.list({
      limit: HOST_PAGE,
      ...(query.workflowId === undefined ? {} : { workflowId: query.workflowId }),
      ...(query.status === undefined ? {} : { status: query.status }),
      ...(before === undefined ? {} : { startedBefore: before.startedAt }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    looked += page.instances.length
    found.push(...page.instances.map(ofRecord).filter((each) => !known.has(each.id) && fits(each, query)))
    cursor = page.cursor
  } while (cursor !== undefined && found.length <= query.limit && looked < MOST_SEARCHED)
  return found
}

function fits(summary: InstanceSummary, { workflowId, status, text, before }: ListQuery): boolean {
  const needle = text?.toLowerCase()
  return (workflowId === undefined || summary.workflowId === workflowId) &&
    (status === undefined || status.includes(summary.status)) &&
    (needle === undefined || [summary.id, summary.businessKey ?? '', summary.workflowId].some((part) => part.toLowerCase().includes(needle))) &&
    (before === undefined || newestFirst(fromCursor(before), summary) < 0)
}

function newestFirst(left: Pick<InstanceSummary, 'startedAt' | 'id'>, right: Pick<InstanceSummary, 'startedAt' | 'id'>): number {
  if (left.startedAt !== right.startedAt) return right.startedAt - left.startedAt
  return left.id < right.id ? -1 : left.id > right.id ? 1 : 0
}

function toCursor({ startedAt, id }: InstanceSummary): string {
  return `${String(startedAt)}.${id}`
}

/** @throws {@link RequestError} `REQUEST_INVALID` for what no page has given */
function fromCursor(cursor: string): { readonly startedAt: number; readonly id: string } {
  const match = /^(\d{1,16})\.(.+)$/u.exec(cursor)
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new RequestError({ code: 'REQUEST_INVALID', message: 'Parameter "before" is none that a page gave as "next"', details: { parameter: 'before' } })
  }
  return { startedAt: Number(match[1]), id: match[2] }
}

function notFound(id: string): InstanceError {
  return new InstanceError({ code: 'INSTANCE_NOT_FOUND', message: `There is no instance ${id}; it may have been forgotten since it ended`, details: { processInstanceId: id } })
}
