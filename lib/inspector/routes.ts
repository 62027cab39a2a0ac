import type { IncomingMessage } from 'node:http'
import type Koa from 'koa'
import { isJsonObject, type Json } from '../common/index.ts'
import { parseDocument, type Catalogue, type LoadedDefinition } from '../definition/index.ts'
import { DefinitionError, RequestError } from '../errors/index.ts'
import type { Host, InstanceStatus } from '../hosts/index.ts'
import { createDiagram, type DrawOptions } from './diagram/draw.ts'
import type { Drawer } from './diagram/drawer.ts'
import { escape } from './diagram/svg.ts'
import { toDot } from './diagram/dot.ts'
import { toMermaid } from './diagram/mermaid.ts'
import { translate } from '../translation/index.ts'
import type { Guard } from './guard.ts'
import type { InstanceReader } from './instances.ts'
import type { PageFile } from './page-files.ts'
import type { Recorder } from './recorder.ts'
import type { InspectorSettings } from './settings.ts'
import type { EventStream } from './stream.ts'

/** What the addresses of the inspector answer from. */
export interface RouteParts {
  readonly host: Host
  readonly catalogue: Catalogue
  readonly recorder: Recorder
  readonly instances: InstanceReader
  readonly drawer: Drawer
  readonly stream: EventStream
  readonly guard: Guard
  readonly settings: InspectorSettings
  readonly files: ReadonlyMap<string, PageFile>
  /** Prefix of all addresses of the service. */
  readonly rootPath: string
}

type Handler = (ctx: Koa.Context, parts: RouteParts, names: readonly string[]) => Promise<void> | void

const MOST_INSTANCES = 200
const LARGEST_BODY = 1_048_576

const ROUTES: readonly (readonly [method: 'GET' | 'POST', path: RegExp, handler: Handler])[] = [
  ['GET', /^\/api\/workflows$/u, listWorkflows],
  ['GET', /^\/api\/workflows\/([^/]+)\/([^/]+)$/u, workflowFile],
  ['GET', /^\/api\/instances$/u, listInstances],
  ['GET', /^\/api\/instances\/([^/]+)$/u, async (ctx, { instances }, [id = '']) => { json(ctx, await instances.view(id)) }],
  ['GET', /^\/api\/events$/u, openStream],
  ['POST', /^\/api\/instances\/([^/]+)\/(abort|retry)$/u, changeInstance],
  ['POST', /^\/api\/workflows\/([^/]+)\/run$/u, runWorkflow],
  ['POST', /^\/api\/draw$/u, drawForeign],
]

/** Makes the middleware of `/inspect` (inspector.md, Routes). */
export function createRoutes(parts: RouteParts): Koa.Middleware {
  return async (ctx) => {
    const path = ctx.path.slice(`${parts.rootPath}/inspect`.length)
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Referrer-Policy', 'no-referrer')
    ctx.set('Content-Security-Policy', policy())
    if (!path.startsWith('/api/')) {
      servePage(ctx, parts, path)
      return
    }
    parts.guard.admit(ctx.req)
    parts.guard.sameOrigin(ctx.req)
    ctx.set('Cache-Control', 'no-store')
    await answer(ctx, parts, path)
  }
}

async function answer(ctx: Koa.Context, parts: RouteParts, path: string): Promise<void> {
  const method = ctx.method === 'HEAD' ? 'GET' : ctx.method
  let known = false
  for (const [allowed, pattern, handler] of ROUTES) {
    const match = pattern.exec(path)
    if (match === null) continue
    known = true
    if (allowed !== method) continue
    await handler(ctx, parts, match.slice(1).map(decode))
    return
  }
  if (known) throw new RequestError({ code: 'METHOD_NOT_ALLOWED', message: `${ctx.method} is not possible here`, details: { allow: ROUTES.filter(([, pattern]) => pattern.test(path)).map(([allowed]) => allowed) } })
  throw unknownAddress(path)
}

/**
 * The policy of the pages: everything from here. The bridge adds the page that it frames; the receiver, which holds no data and no
 * controls of its own, may be framed by relays on this machine.
 */
function policy({ frame, ancestors }: { readonly frame?: string; readonly ancestors?: string } = {}): string {
  const own = `default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'`
  return `${own}; frame-ancestors 'self'${ancestors === undefined ? '' : ` ${ancestors}`}${frame === undefined ? '' : `; frame-src ${frame}`}`
}

/** A page that hands what `/inspect/ws` tells to a page of another inspector in a frame. */
function serveBridge(ctx: Koa.Context, { guard, settings: { bridgeUrl } }: RouteParts): void {
  guard.name(ctx.req)
  if (bridgeUrl === undefined || !/^https?:/u.test(bridgeUrl) || !URL.canParse(bridgeUrl)) {
    throw new RequestError({ code: 'ADDRESS_UNKNOWN', message: 'There is no bridge: sonatina.inspect.bridge-url names no page to frame' })
  }
  ctx.set('Content-Security-Policy', policy({ frame: new URL(bridgeUrl).origin }))
  const url = escape(bridgeUrl)
  send(ctx, 'text/html; charset=utf-8', '<!doctype html><html lang="en"><meta charset="utf-8"><title>Inspector bridge</title>' +
    '<link rel="stylesheet" href="assets/app.css"><script type="module" src="assets/bridge.js"></script>' +
    `<iframe id="frame" title="Inspector" data-src="${url}" style="border:0;width:100%;height:100%"></iframe></html>`)
}

function servePage(ctx: Koa.Context, parts: RouteParts, path: string): void {
  const { files, guard, rootPath } = parts
  if (path === '/') {
    ctx.redirect(`${rootPath}/inspect${ctx.search}`)
    return
  }
  if (path === '/bridge') {
    serveBridge(ctx, parts)
    return
  }
  const isReceiver = path === '' && ctx.query['receiver'] === '1'
  if (isReceiver) ctx.set('Content-Security-Policy', policy({ ancestors: 'http://localhost:* http://127.0.0.1:*' }))
  const page = isReceiver ? 'receiver.html' : 'index.html'
  const file = files.get(path === '' ? page : /^\/assets\/([a-z.]+)$/u.exec(path)?.[1] ?? '')
  if (file === undefined) throw unknownAddress(path)
  // The page itself holds no data; it asks for the token when the data needs one.
  guard.name(ctx.req)
  serveFile(ctx, file)
}

function serveFile(ctx: Koa.Context, file: PageFile): void {
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('ETag', file.etag)
  ctx.status = 200
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  ctx.set('Content-Type', file.type)
  ctx.vary('Accept-Encoding')
  const packed = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  if (packed) ctx.set('Content-Encoding', 'gzip')
  ctx.body = packed ? file.packed : file.body
}

function listWorkflows(ctx: Koa.Context, { catalogue, recorder, rootPath, settings }: RouteParts): void {
  const workflows = catalogue.list().map(({ definition, source }) => ({
    id: definition.id,
    name: definition.name ?? definition.id,
    version: definition.version,
    ...(definition.description === undefined ? {} : { description: definition.description }),
    states: definition.states.length,
    counts: recorder.counts(definition.id),
    endpoint: `${rootPath}/${encodeURIComponent(definition.id)}`,
    format: source.format,
  }))
  json(ctx, { workflows, failures: catalogue.failures.map(({ uri, error }) => ({ file: uri.split('/').at(-1) ?? '', message: error.message })), control: settings.control })
}

function findWorkflow({ catalogue }: RouteParts, id: string): LoadedDefinition {
  const loaded = catalogue.find(id)
  if (loaded === undefined) throw new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `There is no workflow "${id}"` })
  return loaded
}

async function workflowFile(ctx: Koa.Context, parts: RouteParts, [id = '', file = '']: readonly string[]): Promise<void> {
  const loaded = findWorkflow(parts, id)
  const { definition, source } = loaded
  const machine = ctx.query['machine'] === '1'
  switch (file) {
    case 'definition.json':
      json(ctx, { format: source.format, text: source.text, lines: linesOfStates(loaded) })
      return
    case 'diagram.svg':
      send(ctx, 'image/svg+xml; charset=utf-8', await parts.drawer.draw(loaded, { machine, ...drawOptions(ctx) }))
      return
    case 'diagram.mmd':
      send(ctx, 'text/plain; charset=utf-8', toMermaid(createDiagram(definition, machine)))
      return
    case 'diagram.dot':
      send(ctx, 'text/vnd.graphviz; charset=utf-8', toDot(createDiagram(definition, machine)))
      return
    case 'diagram.json':
      json(ctx, createDiagram(definition, machine))
      return
    case 'machine.json':
      json(ctx, translate(definition).root)
      return
    case 'input-schema.json':
      json(ctx, definition.dataInputSchema?.schema ?? {})
      return
    default:
      throw unknownAddress(`/api/workflows/${id}/${file}`)
  }
}

/** Lines in which the states begin, by name. */
function linesOfStates({ definition, source }: LoadedDefinition): Record<string, number> {
  const parsed = parseDocument(source.text, { uri: source.uri, format: source.format })
  return Object.fromEntries(definition.states.flatMap(({ name }, index) => {
    const line = parsed.position(`/states/${String(index)}/name`)?.line
    return line === undefined ? [] : [[name, line]]
  }))
}

function drawOptions({ query }: Koa.Context): Pick<DrawOptions, 'theme' | 'direction'> {
  return {
    theme: choose('theme', query['theme'], ['auto', 'light', 'dark']),
    direction: choose('direction', query['direction'], ['down', 'right']),
  }
}

async function listInstances(ctx: Koa.Context, { instances }: RouteParts): Promise<void> {
  const { workflow, status, q, limit, before } = ctx.query
  json(ctx, await instances.list({
    limit: toLimit(limit),
    ...(typeof workflow === 'string' && workflow !== '' ? { workflowId: workflow } : {}),
    ...(typeof status === 'string' && status !== '' ? { status: status.split(',').map((word) => choose('status', word, STATUSES)) } : {}),
    ...(typeof q === 'string' && q.trim() !== '' ? { text: q.trim() } : {}),
    ...(typeof before === 'string' ? { before } : {}),
  }))
}

const STATUSES: readonly [InstanceStatus, ...InstanceStatus[]] = ['active', 'waiting', 'completed', 'error', 'aborted']

function toLimit(value: unknown): number {
  if (value === undefined) return 50
  const limit = typeof value === 'string' && /^\d{1,6}$/u.test(value) ? Number(value) : 0
  if (limit < 1) throw invalid('limit', `a number from 1 to ${String(MOST_INSTANCES)}`)
  return Math.min(limit, MOST_INSTANCES)
}

function choose<Choice extends string>(name: string, value: unknown, choices: readonly [Choice, ...Choice[]]): Choice {
  if (value === undefined) return choices[0]
  const chosen = choices.find((choice) => choice === value)
  if (chosen === undefined) throw invalid(name, `one of ${choices.join(', ')}`)
  return chosen
}

function openStream(ctx: Koa.Context, { stream }: RouteParts): void {
  const lastEventId = ctx.get('Last-Event-ID') || (typeof ctx.query['lastEventId'] === 'string' ? ctx.query['lastEventId'] : undefined)
  ctx.status = 200
  ctx.set('Content-Type', 'text/event-stream; charset=utf-8')
  ctx.set('X-Accel-Buffering', 'no')
  if (ctx.method === 'HEAD') return
  ctx.respond = false
  if (stream.open(ctx.res, lastEventId)) return
  ctx.respond = true
  throw new RequestError({ code: 'NOT_AVAILABLE', message: 'So many pages watch already that no other can; close one' })
}

async function changeInstance(ctx: Koa.Context, { host, instances, guard }: RouteParts, [id = '', change = '']: readonly string[]): Promise<void> {
  guard.change(ctx.req)
  const { workflowId } = await instances.summary(id)
  const record = change === 'abort' ? await host.abort(workflowId, id) : await host.retrigger(workflowId, id)
  json(ctx, { id, status: record.status })
}

async function runWorkflow(ctx: Koa.Context, parts: RouteParts, [id = '']: readonly string[]): Promise<void> {
  parts.guard.change(ctx.req)
  findWorkflow(parts, id)
  const body = await readJson(ctx.req)
  const { input = {}, businessKey } = isJsonObject(body) ? body : {}
  const record = await parts.host.start({ workflowId: id, input, respondAsync: true, ...(typeof businessKey === 'string' && businessKey !== '' ? { businessKey } : {}) })
  json(ctx, { id: record.id, status: record.status })
}

async function drawForeign(ctx: Koa.Context, { drawer }: RouteParts): Promise<void> {
  send(ctx, 'image/svg+xml; charset=utf-8', await drawer.drawForeign(await readJson(ctx.req)))
}

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > LARGEST_BODY) throw new RequestError({ code: 'BODY_TOO_LARGE', message: `The body is larger than ${String(LARGEST_BODY)} bytes` })
    chunks.push(chunk as Buffer)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json
  } catch (cause) {
    throw new RequestError({ code: 'REQUEST_NOT_JSON', message: `The body is no JSON: ${(cause as Error).message}`, cause })
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // What is no encoding is taken as it stands: nothing has that name.
    return text
  }
}

function json(ctx: Koa.Context, value: unknown): void {
  send(ctx, 'application/json; charset=utf-8', JSON.stringify(value))
}

function send(ctx: Koa.Context, type: string, text: string): void {
  ctx.status = 200
  ctx.set('Content-Type', type)
  ctx.body = text
}

function unknownAddress(path: string): RequestError {
  return new RequestError({ code: 'ADDRESS_UNKNOWN', message: `The inspector has no address "${path}"` })
}

function invalid(parameter: string, wanted: string): RequestError {
  return new RequestError({ code: 'REQUEST_INVALID', message: `Parameter "${parameter}" is ${wanted}`, details: { parameter } })
}
