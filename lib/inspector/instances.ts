import { compact } from '../common/index.ts'
import type { Catalogue } from '../definition/index.ts'
import { InstanceError, RequestError } from '../errors/index.ts'
import type { Host, InstanceRecord, InstanceStatus } from '../hosts/index.ts'
import { toView, type FoundInstance, type InstanceFacts, type InstanceSummary, type InstanceView } from './instance-view.ts'
import type { Recorder, Recording } from './recorder.ts'
import type { Redact } from './redact.ts'

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
  const find = async (id: string): Promise<FoundInstance> => {
    const recording = recorder.find(id)
    const workflows = recording === undefined ? catalogue.list().map(({ definition }) => definition.id) : [recording.workflowId]
    for (const workflowId of workflows) {
      const record = await host.find(workflowId, id)
      if (record !== undefined) return { summary: toSummary(recording ?? record), recording, record }
    }
    if (recording === undefined) throw notFound(id)
    return { summary: toSummary(recording), recording, record: undefined }
  }
  /** The steps: those of the recorder, unless it has not seen all of them and the host has. */
  const stepsOf = async ({ summary, recording }: FoundInstance): Promise<Pick<InstanceFacts, 'steps' | 'dropped'>> => {
    const isWhole = recording !== undefined && recording.dropped === 0 && recording.steps[0]?.type === 'started'
    const stored = isWhole ? [] : await host.history(summary.workflowId, summary.id)
    return stored.length > 0 ? { steps: stored, dropped: 0 } : { steps: recording?.steps ?? [], dropped: recording?.dropped ?? 0 }
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
    summary: async (id) => (await find(id)).summary,
    async view(id) {
      const found = await find(id)
      const { summary: { workflowId, version } } = found
      const definition = (catalogue.find(workflowId, version) ?? catalogue.find(workflowId))?.definition
      const children = [...recorder.recordings()].filter(({ parentInstanceId }) => parentInstanceId === id)
        .map(({ id: child, workflowId: called, status }) => ({ id: child, workflowId: called, status }))
      return { ...toView({ ...found, ...await stepsOf(found), definition }, redact), children }
    },
  }
}

function toSummary({ id, workflowId, version, status, startedAt, endedAt, businessKey, parentInstanceId }: Recording | InstanceRecord): InstanceSummary {
  return compact({ id, workflowId, version, status, startedAt, endedAt, businessKey, parentInstanceId })
}

async function fromHost(host: Host, query: ListQuery, known: ReadonlySet<string>): Promise<InstanceSummary[]> {
  const found: InstanceSummary[] = []
  const before = query.before === undefined ? undefined : fromCursor(query.before)
  let cursor: string | undefined
  let looked = 0
  do {
    const page = await host.list(compact({ limit: HOST_PAGE, workflowId: query.workflowId, status: query.status, startedBefore: before?.startedAt, cursor }))
    looked += page.instances.length
    found.push(...page.instances.map(toSummary).filter((each) => !known.has(each.id) && fits(each, query)))
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
