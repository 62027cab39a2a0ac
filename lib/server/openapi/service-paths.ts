import type { Json, JsonObject } from '../../common/index.ts'

/** What the statuses of errors mean, for descriptions. */
export const ERRORS = {
  400: 'The request or its data is wrong, or the instance failed over its data',
  404: 'No such workflow or live instance',
  409: 'The key is in use for another request',
  413: 'The body is too large',
  415: 'The media type cannot be read',
  500: 'The instance failed, or the service did',
  503: 'Not available now; try again later',
} as const

/** Schemas that every document has. */
export const SHARED_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  Problem: {
    type: 'object',
    required: ['message', 'code'],
    properties: {
      message: { type: 'string' },
      code: { type: 'string', description: 'Stable name of the error' },
      id: { type: 'string', description: 'Instance that failed' },
      failedNodeId: { type: 'string' },
      errorCode: { type: 'string', description: 'Status of a remote answer' },
      processInstanceId: { type: 'string' },
      nodeId: { type: 'string' },
      nodeInstanceId: { type: 'string' },
    },
    additionalProperties: false,
  },
  Instance: {
    type: 'object',
    required: ['id', 'workflowdata'],
    properties: { id: { type: 'string' }, workflowdata: { type: 'object' } },
  },
  Health: {
    type: 'object',
    required: ['status', 'checks'],
    properties: {
      status: { enum: ['UP', 'DOWN'] },
      checks: {
        type: 'array',
        items: { type: 'object', required: ['name', 'status'], properties: { name: { type: 'string' }, status: { enum: ['UP', 'DOWN'] }, data: { type: 'object' } } },
      },
    },
  },
}

const PROBLEM: JsonObject = { $ref: '#/components/schemas/Problem' }
const INSTANCE: JsonObject = { $ref: '#/components/schemas/Instance' }
const LIST: JsonObject = { type: 'array', items: {} }
const MESSAGE: JsonObject = { type: 'object', properties: { message: { type: 'string' } } }
const DUE: JsonObject = { type: 'object', required: ['expirationTime'], properties: { expirationTime: { type: 'string', format: 'date-time' } } }

function json(description: string, schema: Json): JsonObject {
  return { description, content: { 'application/json': { schema } } }
}

interface OperationShape {
  readonly id: string
  readonly summary: string
  readonly schema: Json
  readonly tag: string
  readonly mediaType?: string
  readonly body?: Json
  readonly query?: readonly string[]
  readonly failures?: readonly (keyof typeof ERRORS)[]
}

function operation(shape: OperationShape): JsonObject {
  const failures = (shape.failures ?? []).map((status) => [String(status), json(ERRORS[status], PROBLEM)] as const)
  return {
    operationId: shape.id,
    summary: shape.summary,
    tags: [shape.tag],
    ...(shape.query === undefined ? {} : { parameters: shape.query.map((name) => ({ name, in: 'query', required: false, schema: { type: 'string' } })) }),
    ...(shape.body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: shape.body } } } }),
    responses: {
      200: { description: shape.summary, content: { [shape.mediaType ?? 'application/json']: { schema: shape.schema } } },
      ...Object.fromEntries(failures),
    },
  }
}

function path(template: string, operations: JsonObject): [string, JsonObject] {
  const parameters = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name: name ?? '', in: 'path', required: true, schema: { type: 'string' } }))
  return [template, parameters.length === 0 ? operations : { parameters, ...operations }]
}

function manage(id: string, summary: string, shape: Omit<OperationShape, 'id' | 'summary' | 'tag'>): JsonObject {
  return operation({ id, summary, tag: 'Management', failures: [404], ...shape })
}

const PROCESSES = '/management/processes'
const INSTANCES = `${PROCESSES}/{processId}/instances`
const ONE = `${INSTANCES}/{processInstanceId}`
const NODE_INSTANCE = `${ONE}/nodeInstances/{nodeInstanceId}`
const FAILURES = [400, 404, 500] as const

/** `/management` and `/messaging` (http-contract.md §6). */
export const MANAGEMENT_PATHS: JsonObject = Object.fromEntries([
  path(PROCESSES, { get: manage('getProcesses', 'Ids of the served definitions', { schema: { type: 'array', items: { type: 'string' } }, failures: [] }) }),
  path(`${PROCESSES}/sources`, { get: manage('getSource', 'A listed source', { schema: { type: 'string' }, query: ['uri'], mediaType: '*/*' }) }),
  path(`${PROCESSES}/{processId}`, { get: manage('getProcess', 'A definition', { schema: { type: 'object' } }) }),
  path(`${PROCESSES}/{processId}/nodes`, { get: manage('getNodes', 'Nodes of a definition', { schema: LIST }) }),
  path(`${PROCESSES}/{processId}/source`, { get: manage('getProcessSource', 'Text of a definition', { schema: { type: 'string' }, mediaType: '*/*' }) }),
  path(`${PROCESSES}/{processId}/sources`, { get: manage('getProcessSources', 'Files of a definition', { schema: LIST }) }),
  path(INSTANCES, {
    get: manage('queryInstances', 'Live and kept instances', { schema: { type: 'object' }, query: ['status', 'businessKey', 'startedAfter', 'startedBefore', 'limit', 'cursor'], failures: [400, 404] }),
  }),
  path(ONE, {
    get: manage('getInstance', 'An instance, live or kept', { schema: { type: 'object' } }),
    delete: manage('abortInstance', 'Aborts an instance', { schema: INSTANCE }),
  }),
  path(`${ONE}/history`, { get: manage('getHistory', 'Steps of an instance', { schema: LIST }) }),
  path(`${ONE}/error`, { get: manage('getError', 'Why an instance is in error', { schema: { type: 'object' }, failures: [400, 404] }) }),
  path(`${ONE}/retrigger`, { post: manage('retrigger', 'Runs the failed node again', { schema: INSTANCE, failures: FAILURES }) }),
  path(`${ONE}/skip`, { post: manage('skip', 'Goes on after the failed node', { schema: INSTANCE, failures: FAILURES }) }),
  path(`${ONE}/nodes/{nodeId}`, { post: manage('triggerNode', 'Enters a node', { schema: INSTANCE, failures: FAILURES }) }),
  path(`${ONE}/nodeInstances`, { get: manage('getNodeInstances', 'Node instances that wait', { schema: LIST }) }),
  path(NODE_INSTANCE, {
    post: manage('retriggerNodeInstance', 'Runs a waiting node instance again', { schema: INSTANCE, failures: FAILURES }),
    delete: manage('cancelNodeInstance', 'Ends a waiting node instance', { schema: INSTANCE, failures: FAILURES }),
  }),
  path(`${ONE}/timers`, { get: manage('getTimers', 'Timers of an instance', { schema: LIST }) }),
  path(`${NODE_INSTANCE}/timers`, { get: manage('getNodeTimers', 'Timers of a node instance', { schema: LIST }) }),
  path(`${ONE}/sla`, { patch: manage('moveDeadline', 'Moves the deadline of an instance', { schema: MESSAGE, body: DUE, failures: [400, 404] }) }),
  path(`${NODE_INSTANCE}/sla`, { patch: manage('moveTimer', 'Moves the timer of a node instance', { schema: MESSAGE, body: DUE, failures: [400, 404] }) }),
  path('/management/jobs/{processId}/instances/{processInstanceId}/timers/{timerId}', {
    post: manage('fireTimer', 'Fires a timer', { schema: MESSAGE, query: ['limit'], failures: [400, 404] }),
  }),
  path('/messaging/topics', { get: manage('getTopics', 'Events consumed and produced', { schema: LIST, failures: [] }) }),
])

/** The address of inbound events (http-contract.md §5). */
export const EVENT_PATH: JsonObject = {
  '/': {
    post: {
      operationId: 'receiveEvent',
      summary: 'Takes a CloudEvent, binary or structured',
      tags: ['Events'],
      requestBody: { required: true, content: { 'application/cloudevents+json': { schema: { type: 'object', required: ['specversion', 'id', 'source', 'type'] } } } },
      responses: { 202: { description: 'Stored, or ignored because nothing waits for it' }, 400: json(ERRORS[400], PROBLEM), 415: json(ERRORS[415], PROBLEM) },
    },
  },
}

function service(id: string, summary: string, mediaType: string): JsonObject {
  return { get: operation({ id, summary, schema: { type: 'string' }, tag: 'Service', mediaType }) }
}

function health(id: string, summary: string): JsonObject {
  const schema: JsonObject = { $ref: '#/components/schemas/Health' }
  return { get: { operationId: id, summary, tags: ['Service'], responses: { 200: json('Up', schema), 503: json('Down', schema) } } }
}

/** `/q` (http-contract.md §7). */
export function servicePaths(metrics: boolean): JsonObject {
  return {
    '/q/openapi': service('getOpenApi', 'This document', 'application/yaml'),
    '/q/health': health('getHealth', 'All checks'),
    '/q/health/live': health('getLiveness', 'Whether the process lives'),
    '/q/health/ready': health('getReadiness', 'Whether requests can be served'),
    '/q/health/started': health('getStartup', 'Whether the service has started'),
    ...(metrics ? { '/q/metrics': service('getMetrics', 'Prometheus metrics', 'text/plain') } : {}),
  }
}
