import type Router from '@koa/router'
import type { RouterContext } from '@koa/router'
import { InstanceError, RequestError } from '../../errors/index.ts'
import type { InstanceRecord, WaitRecord } from '../../hosts/index.ts'
import { answerJson, answerProblem, toRepresentation } from '../answer.ts'
import type { ServerContext } from '../context.ts'
import { nodesOf } from '../nodes.ts'
import { failureMessage, failureProblem } from '../problem.ts'
import { findSource, listSources } from '../sources.ts'
import type { WorkflowRoute } from '../workflow-routes.ts'
import { findWorkflow, readObject, unknownInstance } from './instances.ts'

const PROCESSES = '/management/processes'

/** Adds `/management/processes` with definitions, nodes, errors, timers (http-contract.md §6). */
export function addManagementRoutes(router: Router, server: ServerContext): void {
  addDefinitionRoutes(router, server)
  addErrorRoutes(router, server)
  addNodeInstanceRoutes(router, server)
  addTimerRoutes(router, server)
}

function addDefinitionRoutes(router: Router, server: ServerContext): void {
  router.get(PROCESSES, (ctx) => { answerJson(ctx, 200, server.workflows.list().map(({ id }) => id)) })
  router.get(`${PROCESSES}/sources`, (ctx) => {
    const uri = typeof ctx.query['uri'] === 'string' ? ctx.query['uri'] : ''
    answerSource(ctx, findSource(server, server.workflows.list(), uri), uri)
  })
  router.get(`${PROCESSES}/:id`, (ctx) => {
    const { definition } = workflowOf(server, ctx).loaded
    answerJson(ctx, 200, {
      id: definition.id,
      name: definition.name ?? definition.id,
      type: 'SW',
      version: definition.version,
      ...(definition.description === undefined ? {} : { description: definition.description }),
      ...(definition.annotations.length === 0 ? {} : { annotations: definition.annotations }),
      ...(definition.dataInputSchema === undefined ? {} : { inputSchema: definition.dataInputSchema.schema }),
      ...(definition.dataOutputSchema === undefined ? {} : { outputSchema: definition.dataOutputSchema.schema }),
    })
  })
  router.get(`${PROCESSES}/:id/nodes`, (ctx) => {
    answerJson(ctx, 200, nodesOf(workflowOf(server, ctx).loaded.definition).map((node) => (
      { id: node.id, uniqueId: node.id, nodeDefinitionId: node.id, name: node.name, type: node.type, metadata: node.metadata }
    )))
  })
  router.get(`${PROCESSES}/:id/source`, (ctx) => {
    const { source } = workflowOf(server, ctx).loaded
    answerSource(ctx, { text: source.text, format: source.format }, source.uri)
  })
  router.get(`${PROCESSES}/:id/sources`, (ctx) => { answerJson(ctx, 200, listSources(server, workflowOf(server, ctx))) })
}

function answerSource(ctx: RouterContext, source: { readonly text: string; readonly format: 'json' | 'yaml' | 'text' } | undefined, uri: string): void {
  if (source === undefined) {
    throw new RequestError({ code: 'ADDRESS_UNKNOWN', message: `No source "${uri}" is listed. GET /management/processes/<id>/sources lists those of a definition.` })
  }
  ctx.status = 200
  ctx.set('Content-Type', { json: 'application/json; charset=utf-8', yaml: 'application/yaml; charset=utf-8', text: 'text/plain; charset=utf-8' }[source.format])
  ctx.body = source.text
}

function addErrorRoutes(router: Router, server: ServerContext): void {
  const { host } = server
  const inError = async (ctx: RouterContext): Promise<InstanceRecord> => {
    const record = await liveInstance(server, ctx)
    if (record.failure !== undefined) return record
    throw new InstanceError({
      code: 'INSTANCE_NOT_FAILED',
      message: `Instance "${record.id}" of workflow "${record.workflowId}" is not in error.`,
      details: { processInstanceId: record.id },
    })
  }
  router.get(`${PROCESSES}/:id/instances/:instance/error`, async (ctx) => {
    const { id, failure } = await inError(ctx)
    if (failure !== undefined) answerJson(ctx, 200, { id, failedNodeId: failure.failedNodeId, message: failureMessage(failure) })
  })
  router.post(`${PROCESSES}/:id/instances/:instance/retrigger`, async (ctx) => {
    const { workflowId, id } = await inError(ctx)
    answerResumed(ctx, await host.retrigger(workflowId, id))
  })
  router.post(`${PROCESSES}/:id/instances/:instance/skip`, async (ctx) => {
    const { workflowId, id } = await inError(ctx)
    answerResumed(ctx, await host.skip(workflowId, id))
  })
  router.delete(`${PROCESSES}/:id/instances/:instance`, async (ctx) => {
    const { workflowId, id } = await liveInstance(server, ctx)
    answerJson(ctx, 200, toRepresentation(await host.abort(workflowId, id)))
  })
}

/** Answers an instance that went on, or the error it ran into again. */
function answerResumed(ctx: RouterContext, record: InstanceRecord): void {
  if (record.failure !== undefined) answerProblem(ctx, failureProblem(record, record.failure))
  else answerJson(ctx, 200, toRepresentation(record))
}

function addNodeInstanceRoutes(router: Router, server: ServerContext): void {
  const { host } = server
  const below = `${PROCESSES}/:id/instances/:instance`
  router.post(`${below}/nodes/:node`, async (ctx) => {
    const { loaded } = workflowOf(server, ctx)
    const { workflowId, id } = await liveInstance(server, ctx)
    const nodeId = ctx.params['node'] ?? ''
    if (!nodesOf(loaded.definition).some((node) => node.id === nodeId)) {
      throw new InstanceError({
        code: 'NODE_NOT_FOUND',
        message: `Workflow "${workflowId}" has no node "${nodeId}". GET ${PROCESSES}/<id>/nodes lists them; a slash in an id is sent as %2F.`,
        details: { processInstanceId: id, nodeId },
      })
    }
    answerResumed(ctx, await host.trigger(workflowId, id, nodeId))
  })
  router.get(`${below}/nodeInstances`, async (ctx) => {
    const record = await liveInstance(server, ctx)
    answerJson(ctx, 200, (record.waitingFor ?? []).map(toNodeInstance))
  })
  router.post(`${below}/nodeInstances/:nodeInstance`, async (ctx) => {
    const { record, wait } = await nodeInstance(server, ctx)
    answerResumed(ctx, await host.retriggerNode(record.workflowId, record.id, wait.nodeInstanceId))
  })
  router.delete(`${below}/nodeInstances/:nodeInstance`, async (ctx) => {
    const { record, wait } = await nodeInstance(server, ctx)
    answerResumed(ctx, await host.cancelNode(record.workflowId, record.id, wait.nodeInstanceId))
  })
}

function toNodeInstance(wait: WaitRecord): object {
  return {
    id: wait.nodeInstanceId,
    nodeId: wait.nodeId,
    nodeDefinitionId: wait.nodeId,
    name: wait.nodeId.slice(wait.nodeId.lastIndexOf('/') + 1),
    type: wait.kind,
    triggerTime: new Date(wait.since).toISOString(),
    ...(wait.names === undefined ? {} : { waitingFor: wait.names }),
  }
}

function addTimerRoutes(router: Router, server: ServerContext): void {
  const { host, clock } = server
  const below = `${PROCESSES}/:id/instances/:instance`
  router.get(`${below}/timers`, async (ctx) => {
    const record = await liveInstance(server, ctx)
    answerJson(ctx, 200, (record.waitingFor ?? []).flatMap((wait) => toTimers(record, wait)))
  })
  router.get(`${below}/nodeInstances/:nodeInstance/timers`, async (ctx) => {
    const { record, wait } = await nodeInstance(server, ctx)
    answerJson(ctx, 200, toTimers(record, wait))
  })
  router.patch(`${below}/nodeInstances/:nodeInstance/sla`, async (ctx) => {
    const { record, wait } = await nodeInstance(server, ctx)
    await moveTimer(server, ctx, record, wait)
  })
  router.patch(`${below}/sla`, async (ctx) => {
    const record = await liveInstance(server, ctx)
    // The deadline of the instance belongs to the workflow and not to one of its nodes.
    const wait = (record.waitingFor ?? []).find(({ kind, nodeId }) => kind === 'timer' && (nodeId === '' || nodeId === record.workflowId))
    await moveTimer(server, ctx, record, wait)
  })
  router.post('/management/jobs/:id/instances/:instance/timers/:nodeInstance', async (ctx) => {
    const { record, wait } = await nodeInstance(server, ctx)
    if (wait.dueAt === undefined) throw noTimer(record)
    await host.reschedule(record.workflowId, record.id, wait.nodeInstanceId, clock.now())
    answerJson(ctx, 200, { message: `Timer ${wait.nodeInstanceId} of instance ${record.id} fires now.` })
  })
}

function toTimers(record: InstanceRecord, wait: WaitRecord): object[] {
  if (wait.dueAt === undefined) return []
  return [{
    id: wait.nodeInstanceId,
    processInstanceId: record.id,
    nodeInstanceId: wait.nodeInstanceId,
    nodeId: wait.nodeId,
    expirationTime: new Date(wait.dueAt).toISOString(),
  }]
}

async function moveTimer(server: ServerContext, ctx: RouterContext, record: InstanceRecord, wait: WaitRecord | undefined): Promise<void> {
  const { expirationTime } = await readObject(ctx, server)
  const dueAt = typeof expirationTime === 'string' ? Date.parse(expirationTime) : Number.NaN
  if (Number.isNaN(dueAt)) {
    throw new RequestError({ code: 'REQUEST_INVALID', message: 'Member "expirationTime" is not an instant such as "2026-01-31T12:00:00Z".' })
  }
  if (wait?.dueAt === undefined) throw noTimer(record)
  await server.host.reschedule(record.workflowId, record.id, wait.nodeInstanceId, dueAt)
  answerJson(ctx, 200, { message: `Instance ${record.id}: due at ${new Date(dueAt).toISOString()}.` })
}

function noTimer(record: InstanceRecord): RequestError {
  return new RequestError({
    code: 'REQUEST_INVALID',
    message: `Instance "${record.id}" of workflow "${record.workflowId}" has no timer there.`,
    details: { processInstanceId: record.id },
  })
}

function workflowOf(server: ServerContext, ctx: RouterContext): WorkflowRoute {
  return findWorkflow(server, ctx.params['id'] ?? '')
}

async function liveInstance(server: ServerContext, ctx: RouterContext): Promise<InstanceRecord> {
  const { id } = workflowOf(server, ctx)
  const instanceId = ctx.params['instance'] ?? ''
  const record = await server.host.get(id, instanceId)
  if (record === undefined) throw unknownInstance(id, instanceId)
  return record
}

async function nodeInstance(server: ServerContext, ctx: RouterContext): Promise<{ record: InstanceRecord; wait: WaitRecord }> {
  const record = await liveInstance(server, ctx)
  const nodeInstanceId = ctx.params['nodeInstance'] ?? ''
  const wait = record.waitingFor?.find((each) => each.nodeInstanceId === nodeInstanceId)
  if (wait !== undefined) return { record, wait }
  throw new InstanceError({
    code: 'NODE_NOT_FOUND',
    message: `Instance "${record.id}" of workflow "${record.workflowId}" has no waiting node instance "${nodeInstanceId}".`,
    details: { processInstanceId: record.id, nodeInstanceId },
  })
}
