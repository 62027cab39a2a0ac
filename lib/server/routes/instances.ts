import type Router from '@koa/router'
import type { RouterContext } from '@koa/router'
import { isJsonObject, type Json } from '../../common/index.ts'
import { DefinitionError, InstanceError, RequestError } from '../../errors/index.ts'
import { answerJson, toRepresentation } from '../answer.ts'
import { readBody, readJson, toWorkflowData } from '../body.ts'
import type { ServerContext } from '../context.ts'
import type { Start } from '../start.ts'
import type { WorkflowRoute } from '../workflow-routes.ts'

/** Adds `/<id>` and what is below it (http-contract.md §2). */
export function addInstanceRoutes(router: Router, server: ServerContext, start: Start): void {
  const { host, settings } = server
  const workflowOf = (ctx: RouterContext): WorkflowRoute => findWorkflow(server, ctx.params['id'] ?? '')
  const data = async (ctx: RouterContext): Promise<Json | undefined> => readJson(ctx.req, settings)

  router.post('/:id', (ctx) => start(ctx, workflowOf(ctx)))
  router.get('/:id', async (ctx) => {
    const { instances } = await host.list({ workflowId: workflowOf(ctx).id, status: ['active', 'waiting', 'error'], limit: settings.instancesLimit })
    answerJson(ctx, 200, instances.map(toRepresentation))
  })
  router.get('/:id/schema', (ctx) => {
    answerJson(ctx, 200, workflowOf(ctx).loaded.definition.dataInputSchema?.schema ?? { type: 'object' })
  })
  if (server.deploy !== undefined && settings.upload) addUpload(router, server, server.deploy)
  router.get('/:id/:instance', async (ctx) => {
    const { id } = workflowOf(ctx)
    const record = await host.get(id, ctx.params['instance'] ?? '')
    if (record === undefined) throw unknownInstance(id, ctx.params['instance'] ?? '')
    answerJson(ctx, 200, toRepresentation(record))
  })
  router.put('/:id/:instance', async (ctx) => {
    const { id } = workflowOf(ctx)
    const body = await data(ctx)
    if (body === undefined || body === null) {
      throw new RequestError({ code: 'REQUEST_INVALID', message: 'PUT replaces all data of the instance and needs a body. To empty the data send {}.' })
    }
    answerJson(ctx, 200, toRepresentation(await host.replaceData(id, ctx.params['instance'] ?? '', toWorkflowData(body))))
  })
  router.patch('/:id/:instance', async (ctx) => {
    const { id } = workflowOf(ctx)
    const patch = toWorkflowData(await data(ctx))
    answerJson(ctx, 200, toRepresentation(await host.mergeData(id, ctx.params['instance'] ?? '', patch)))
  })
  router.delete('/:id/:instance', async (ctx) => {
    answerJson(ctx, 200, toRepresentation(await host.abort(workflowOf(ctx).id, ctx.params['instance'] ?? '')))
  })
  router.get('/:id/:instance/tasks', async (ctx) => {
    const { id } = workflowOf(ctx)
    if ((await host.get(id, ctx.params['instance'] ?? '')) === undefined) throw unknownInstance(id, ctx.params['instance'] ?? '')
    answerJson(ctx, 200, [])
  })
}

// SonataFlow's way to hand in a definition: its text, whatever the media type.
function addUpload(router: Router, server: ServerContext, deploy: NonNullable<ServerContext['deploy']>): void {
  router.post('/:id/definition', async (ctx) => {
    const id = ctx.params['id'] ?? ''
    const text = (await readBody(ctx.req, server.settings.maxBodySize)).toString('utf8')
    await deploy({ uri: `upload:${encodeURIComponent(id)}.sw.${text.trimStart().startsWith('{') ? 'json' : 'yaml'}`, text })
    const route = findWorkflow(server, id)
    answerJson(ctx, 200, { id: route.id, version: route.version })
  })
}

/** Finds a served definition. @throws {@link DefinitionError} `DEFINITION_NOT_FOUND` */
export function findWorkflow(server: ServerContext, id: string): WorkflowRoute {
  const route = server.workflows.find(id)
  if (route !== undefined) return route
  throw new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `No workflow "${id}" is served here. GET /management/processes lists those that are.` })
}

/** Makes the error for an instance that does not exist or has ended. */
export function unknownInstance(workflowId: string, instanceId: string): InstanceError {
  return new InstanceError({
    code: 'INSTANCE_NOT_FOUND',
    message: `Workflow "${workflowId}" has no live instance "${instanceId}": it has ended or never was.`,
    details: { processInstanceId: instanceId },
  })
}

/** Reads a JSON object of a management call. @throws {@link RequestError} `REQUEST_INVALID` */
export async function readObject(ctx: RouterContext, server: ServerContext): Promise<Readonly<Record<string, Json>>> {
  const body = await readJson(ctx.req, server.settings)
  if (isJsonObject(body)) return body
  throw new RequestError({ code: 'REQUEST_INVALID', message: 'The body is not a JSON object.' })
}
