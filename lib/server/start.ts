import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import { InstanceError, RequestError } from '../errors/index.ts'
import type { StartRequest } from '../hosts/index.ts'
import { answerJson, answerProblem, toRepresentation } from './answer.ts'
import { readJson, toWorkflowData } from './body.ts'
import type { ServerContext } from './context.ts'
import { parsePrefer } from './prefer.ts'
import { failureProblem } from './problem.ts'
import type { WorkflowRoute } from './workflow-routes.ts'

/** Answers `POST /<id>`: starts one instance (http-contract.md §2). */
export type Start = (ctx: Koa.Context, route: WorkflowRoute) => Promise<void>

/** Creates the handler of `POST /<id>`. */
export function createStart(server: ServerContext): Start {
  const { host, settings, origin, lifecycle } = server
  return async (ctx, route) => {
    const request = ctx.req
    if (route.startedBy !== undefined) throw startedByEvents(route)
    const preference = parsePrefer(request.headers['prefer'] as string | undefined)
    const details = readDetails(ctx, route)
    const input = toWorkflowData(await readJson(request, settings))
    const record = await host.start({
      workflowId: route.id,
      version: route.version,
      input,
      headers: request.headers as Record<string, string>,
      ...details,
      ...answerLimit(preference.respondAsync, preference.wait, settings.answerTimeout),
    })
    if (preference.applied !== undefined) ctx.set('Preference-Applied', preference.applied)
    if (lifecycle.draining) ctx.set('Connection', 'close')
    // Work still under way was to be answered early; anything else has its answer by now.
    const isLater = preference.respondAsync && (preference.wait === undefined || record.status === 'active')
    if (record.failure !== undefined && !isLater) {
      answerProblem(ctx, failureProblem(record, record.failure))
      return
    }
    ctx.set('Location', `${origin(request)}${route.instancesPath}${encodeURIComponent(record.id)}`)
    answerJson(ctx, isLater ? 202 : 201, toRepresentation(record))
  }
}

function answerLimit(respondAsync: boolean, wait: number | undefined, limit: number | undefined): Pick<StartRequest, 'respondAsync' | 'answerTimeout'> {
  if (respondAsync && wait === undefined) return { respondAsync: true }
  const answerTimeout = wait === undefined ? limit : Math.min(wait, limit ?? wait)
  return answerTimeout === undefined ? {} : { answerTimeout }
}

type Details = Pick<StartRequest, 'businessKey' | 'idempotencyKey' | 'startFrom' | 'referenceId' | 'identity'>
type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

// Most requests have none of these, so the common case builds nothing but an empty object.
function readDetails(ctx: Koa.Context, route: WorkflowRoute): Details {
  const request = ctx.req
  const details: Writable<Details> = {}
  if (request.url?.includes('?') === true) {
    const businessKey = readBusinessKey(request.url)
    if (businessKey !== undefined) details.businessKey = businessKey
  }
  const idempotencyKey = request.headers['idempotency-key']
  if (idempotencyKey !== undefined) details.idempotencyKey = asIdempotencyKey(idempotencyKey)
  const startFrom = oneOf(request, 'x-sonatina-start-from-state', 'x-kogito-startfromnode')
  if (startFrom !== undefined) details.startFrom = asState(startFrom, route)
  const referenceId = oneOf(request, 'x-sonatina-reference-id', 'x-kogito-referenceid')
  if (referenceId !== undefined) details.referenceId = referenceId
  const identity = (ctx.state as { identity?: { name: string } }).identity
  if (identity !== undefined) details.identity = identity.name
  return details
}

function oneOf(request: IncomingMessage, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = request.headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

const LONGEST_KEY = 255

function readBusinessKey(url: string): string | undefined {
  const businessKey = new URLSearchParams(url.slice(url.indexOf('?'))).get('businessKey')
  if (businessKey === null || businessKey === '') return undefined
  if (businessKey.length > LONGEST_KEY) throw invalid(`Query parameter businessKey has ${String(businessKey.length)} characters; ${String(LONGEST_KEY)} are the most.`)
  return businessKey
}

function asIdempotencyKey(header: string | readonly string[]): string {
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw invalid('Header Idempotency-Key is not 1 to 255 visible ASCII characters.')
}

// Node hands header values over byte by byte; state names may be any text.
function asState(header: string, route: WorkflowRoute): string {
  const utf8 = Buffer.from(header, 'latin1').toString('utf8')
  const { states } = route.loaded.definition
  const state = states.find(({ name }) => name === header || name === utf8)
  if (state !== undefined) return state.name
  throw startInvalid(`Workflow "${route.id}" has no state "${utf8}" to start from. Its states: ${states.map(({ name }) => name).join(', ')}.`)
}

function startInvalid(message: string): InstanceError {
  return new InstanceError({ code: 'INSTANCE_START_INVALID', message })
}

function invalid(message: string): RequestError {
  return new RequestError({ code: 'REQUEST_INVALID', message })
}

function startedByEvents(route: WorkflowRoute): RequestError {
  const types = (route.startedBy ?? []).map((type) => `"${type}"`).join(', ')
  return new RequestError({
    code: 'METHOD_NOT_ALLOWED',
    message: `Workflow "${route.id}" is started by events and not by POST. Send a CloudEvent of type ${types}.`,
    details: { allow: ['GET', 'HEAD', 'OPTIONS'] },
  })
}
