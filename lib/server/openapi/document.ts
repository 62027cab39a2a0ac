import type { Json, JsonObject } from '../../common/index.ts'
import type { WorkflowRoute } from '../workflow-routes.ts'
import { ERRORS, EVENT_PATH, MANAGEMENT_PATHS, servicePaths, SHARED_SCHEMAS } from './service-paths.ts'
import { SchemaNames } from './schemas.ts'

/** What a document is made for. */
export interface DocumentOptions {
  readonly application: { readonly name: string; readonly version: string }
  /** Base address of the service, root path included; empty: relative. */
  readonly server: string
  readonly management: boolean
  readonly metrics: boolean
  /** Whether `POST /` takes events. */
  readonly events: boolean
}

/** Describes the service in OpenAPI 3.1, built from the served definitions and their schemas (http-contract.md §7). */
export function createDocument(routes: readonly WorkflowRoute[], options: DocumentOptions): JsonObject {
  const names = new SchemaNames()
  for (const [name, schema] of Object.entries(SHARED_SCHEMAS)) names.schemas[name] = schema
  const paths: Record<string, Json> = {}
  for (const route of routes) Object.assign(paths, pathsOf(route, names))
  if (options.events) Object.assign(paths, EVENT_PATH)
  if (options.management) Object.assign(paths, MANAGEMENT_PATHS)
  Object.assign(paths, servicePaths(options.metrics))
  return {
    openapi: '3.1.0',
    info: {
      title: options.application.name,
      version: options.application.version,
      description: 'Workflows of Serverless Workflow 0.8: POST starts an instance and answers its data.',
    },
    servers: [{ url: options.server === '' ? '/' : options.server }],
    tags: tagsOf(routes, options),
    paths,
    components: { schemas: names.schemas as JsonObject },
  }
}

function tagsOf(routes: readonly WorkflowRoute[], options: DocumentOptions): JsonObject[] {
  const tags = new Map<string, JsonObject>()
  const add = (name: string, description?: string): void => {
    if (!tags.has(name)) tags.set(name, description === undefined ? { name } : { name, description })
  }
  for (const { id, loaded: { definition } } of routes) {
    add(`Process - ${id}`, definition.description)
    // SonataFlow lists the definition by its bare id too, beside its annotations.
    add(id, definition.description)
    for (const annotation of definition.annotations) add(annotation)
  }
  if (options.events) add('Events')
  if (options.management) add('Management')
  add('Service')
  return [...tags.values()]
}

function pathsOf(route: WorkflowRoute, names: SchemaNames): Record<string, Json> {
  const { id, loaded: { definition } } = route
  const { dataInputSchema, dataOutputSchema } = definition
  const input = dataInputSchema === undefined ? { type: 'object' } : names.add(dataInputSchema.schema, `${id} input`)
  const output = dataOutputSchema === undefined ? { type: 'object' } : names.add(dataOutputSchema.schema, `${id} output`)
  const instance = { type: 'object', required: ['id', 'workflowdata'], properties: { id: { type: 'string' }, workflowdata: output } }
  const data: JsonObject = { type: 'object' }
  const live = { type: 'object', required: ['id', 'workflowdata'], properties: { id: { type: 'string' }, workflowdata: data } }
  const tags = [`Process - ${id}`]
  const describe = definition.description === undefined ? {} : { description: definition.description }
  const instanceId: JsonObject = { name: 'id', in: 'path', required: true, schema: { type: 'string' }, description: 'Id of the instance' }
  const one = { 200: answer('The instance', live), ...errors(404) }
  const path = `/${encodeURIComponent(id)}`
  return {
    [path]: {
      ...(route.startedBy === undefined ? { post: createOperation({ id, tags, input, instance, describe }) } : {}),
      get: {
        operationId: `getAllProcessInstances_${id}`, tags, summary: `Lists the live instances of ${id}`,
        responses: { 200: answer('Live instances, newest first', { type: 'array', items: live }) },
      },
    },
    [`${path}/schema`]: {
      get: { operationId: `getResourceSchema_${id}`, tags, summary: `Gives the input schema of ${id}`, responses: { 200: answer('The schema as loaded', data) } },
    },
    [`${path}/{id}`]: {
      parameters: [instanceId],
      get: { operationId: `getProcessInstance_${id}`, tags, summary: 'Gives a live instance', responses: one },
      put: { operationId: `updateProcessInstance_${id}`, tags, summary: 'Replaces the data of a live instance', requestBody: body(data, true), responses: { ...one, ...errors(400, 413, 415) } },
      patch: { operationId: `patchProcessInstance_${id}`, tags, summary: 'Merges into the data of a live instance', requestBody: body(data, false), responses: { ...one, ...errors(400, 413, 415) } },
      delete: { operationId: `deleteProcessInstance_${id}`, tags, summary: 'Aborts a live instance', responses: one },
    },
    [`${path}/{id}/tasks`]: {
      parameters: [instanceId],
      get: { operationId: `getTasks_${id}`, tags, summary: 'Lists human tasks: there are none', responses: { 200: answer('No tasks', { type: 'array', items: data }), ...errors(404) } },
    },
  }
}

function createOperation({ id, tags, input, instance, describe }: { id: string; tags: Json; input: JsonObject; instance: JsonObject; describe: JsonObject }): JsonObject {
  const header = (name: string, description: string): JsonObject => ({ name, in: 'header', required: false, schema: { type: 'string' }, description })
  return {
    operationId: `createProcessInstance_${id}`,
    tags,
    summary: `Starts an instance of ${id}`,
    ...describe,
    parameters: [
      { name: 'businessKey', in: 'query', required: false, schema: { type: 'string', maxLength: 255 }, description: 'A name of your own for the instance' },
      header('Idempotency-Key', 'A second request with the same key gives the first instance'),
      header('Prefer', 'respond-async, or wait=SECONDS (RFC 7240)'),
    ],
    requestBody: body(input, false),
    responses: {
      201: { ...answer('The instance, done or waiting', instance), headers: { Location: { schema: { type: 'string' }, description: 'Address of the instance' } } },
      202: answer('The instance goes on; asked for by Prefer', instance),
      ...errors(400, 404, 409, 413, 415, 500, 503),
    },
  }
}

function body(schema: Json, required: boolean): JsonObject {
  return { required, content: { 'application/json': { schema } } }
}

function answer(description: string, schema: Json): JsonObject {
  return { description, content: { 'application/json': { schema } } }
}

function errors(...statuses: readonly (keyof typeof ERRORS)[]): JsonObject {
  return Object.fromEntries(statuses.map((status) => [String(status), answer(ERRORS[status], { $ref: '#/components/schemas/Problem' })]))
}
