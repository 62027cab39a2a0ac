import type Router from '@koa/router'
import type { RouterContext } from '@koa/router'
import { atPointer, toPointer, type Json } from '../../common/index.ts'
import { RequestError } from '../../errors/index.ts'
import type { HistoryStep, InstanceQuery, InstanceRecord, InstanceStatus } from '../../hosts/index.ts'
import { answerJson, fromStatusWord, toStatusWord } from '../answer.ts'
import type { ServerContext } from '../context.ts'
import { failureMessage } from '../problem.ts'
import { findWorkflow, unknownInstance } from './instances.ts'

const BELOW = '/management/processes/:id/instances'
const DEFAULT_LIMIT = 50
/** Instances looked at for one page when a condition on data throws some away. */
const LONGEST_SEARCH = 10_000

/** Adds queries over live and ended instances, as far as the host keeps them, and their history (decisions.md 23). */
export function addQueryRoutes(router: Router, server: ServerContext): void {
  router.get(BELOW, async (ctx) => {
    const { id } = findWorkflow(server, ctx.params['id'] ?? '')
    const query = readQuery(ctx, id, server.settings.instancesLimit)
    const page = await search(server, query, readConditions(ctx))
    if (page.cursor !== undefined) {
      const next = new URLSearchParams(ctx.querystring)
      next.set('cursor', page.cursor)
      ctx.set('Link', `<${ctx.path}?${next.toString()}>; rel="next"`)
    }
    answerJson(ctx, 200, { instances: page.instances.map(toDescription), ...(page.cursor === undefined ? {} : { cursor: page.cursor }) })
  })
  router.get(`${BELOW}/:instance`, async (ctx) => { answerJson(ctx, 200, toDescription(await kept(server, ctx))) })
  router.get(`${BELOW}/:instance/history`, async (ctx) => {
    const record = await kept(server, ctx)
    answerJson(ctx, 200, (await server.host.history(record.workflowId, record.id)).map(toOutwardStep))
  })
}

async function kept(server: ServerContext, ctx: RouterContext): Promise<InstanceRecord> {
  const { id } = findWorkflow(server, ctx.params['id'] ?? '')
  const instanceId = ctx.params['instance'] ?? ''
  const record = await server.host.find(id, instanceId)
  if (record === undefined) throw unknownInstance(id, instanceId)
  return record
}

function toDescription(record: InstanceRecord): object {
  const { failure } = record
  return {
    id: record.id,
    processId: record.workflowId,
    version: record.version,
    status: toStatusWord(record.status),
    ...(record.businessKey === undefined ? {} : { businessKey: record.businessKey }),
    ...(record.parentInstanceId === undefined ? {} : { parentInstanceId: record.parentInstanceId }),
    ...(record.rootInstanceId === undefined ? {} : { rootInstanceId: record.rootInstanceId }),
    startedAt: instant(record.startedAt),
    ...(record.endedAt === undefined ? {} : { endedAt: instant(record.endedAt) }),
    workflowdata: record.data,
    ...(record.waitingFor === undefined ? {} : { waitingFor: record.waitingFor.map(({ kind, nodeId, names, dueAt }) => (
      { kind, nodeId, ...(names === undefined ? {} : { names }), ...(dueAt === undefined ? {} : { dueAt: instant(dueAt) }) }
    )) }),
    ...(failure === undefined ? {} : { error: { failedNodeId: failure.failedNodeId, code: failure.code, message: failureMessage(failure) } }),
  }
}

function toOutwardStep(step: HistoryStep): object {
  return { ...step, at: instant(step.at) }
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

function readQuery(ctx: RouterContext, workflowId: string, longest: number): InstanceQuery {
  const parameter = (name: string): string | undefined => {
    const value = ctx.query[name]
    const text = Array.isArray(value) ? value.join(',') : value
    return text === '' ? undefined : text
  }
  const limit = parameter('limit') ?? String(Math.min(DEFAULT_LIMIT, longest))
  if (!/^[1-9]\d{0,8}$/.test(limit)) throw invalid(`Query parameter limit is not a whole number from 1 to ${String(longest)}.`)
  const status = readStatus(parameter('status'))
  const businessKey = parameter('businessKey')
  const cursor = parameter('cursor')
  const after = readInstant(parameter('startedAfter'), 'startedAfter')
  const before = readInstant(parameter('startedBefore'), 'startedBefore')
  return {
    workflowId,
    limit: Math.min(Number(limit), longest),
    ...(status === undefined ? {} : { status }),
    ...(businessKey === undefined ? {} : { businessKey }),
    ...(cursor === undefined ? {} : { cursor }),
    ...(after === undefined ? {} : { startedAfter: after }),
    ...(before === undefined ? {} : { startedBefore: before }),
  }
}

function readStatus(text: string | undefined): readonly InstanceStatus[] | undefined {
  if (text === undefined) return undefined
  return [...new Set(text.split(',').flatMap((word) => {
    const statuses = fromStatusWord(word.trim())
    if (statuses === undefined) throw invalid(`"${word}" is no status. There are Pending, Active, Completed, Aborted, Suspended, Error.`)
    return statuses
  }))]
}

function readInstant(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const milliseconds = Date.parse(text)
  if (Number.isNaN(milliseconds)) throw invalid(`Query parameter ${name} is not an instant such as 2026-01-31T12:00:00Z.`)
  return milliseconds
}

interface Condition {
  readonly pointer: string
  readonly value: string
}

/** `data.customer.id=42` asks for instances whose data has that value at that path; text and numbers compare as text. */
function readConditions(ctx: RouterContext): Condition[] {
  return [...new URLSearchParams(ctx.querystring)]
    .filter(([name]) => name.startsWith('data.'))
    .map(([name, value]) => ({ pointer: toPointer(name.slice('data.'.length).split('.')), value }))
}

function fulfils(data: Json, { pointer, value }: Condition): boolean {
  const found = atPointer(data, pointer)
  return found !== undefined && (typeof found === 'string' ? found : JSON.stringify(found)) === value
}

async function search(server: ServerContext, query: InstanceQuery, conditions: readonly Condition[]): Promise<{ instances: InstanceRecord[]; cursor?: string }> {
  // A host that is asked for no status at all would give all of them.
  if (query.status?.length === 0) return { instances: [] }
  const instances: InstanceRecord[] = []
  let cursor = query.cursor
  for (let seen = 0; seen < LONGEST_SEARCH; seen += query.limit) {
    const page = await server.host.list({ ...query, limit: query.limit - instances.length, ...(cursor === undefined ? {} : { cursor }) })
    instances.push(...page.instances.filter(({ data }) => conditions.every((condition) => fulfils(data, condition))))
    cursor = page.cursor
    if (cursor === undefined || instances.length >= query.limit) break
  }
  return { instances, ...(cursor === undefined ? {} : { cursor }) }
}

function invalid(message: string): RequestError {
  return new RequestError({ code: 'REQUEST_INVALID', message })
}
