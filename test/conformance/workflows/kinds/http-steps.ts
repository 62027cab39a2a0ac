import { assertKnown, type Fields, type Step } from '../case-file.ts'
import { parseDuration } from '../durations.ts'
import { matchAnswer, shorten, type Answer } from '../match.ts'
import { toEventPattern } from '../servers/broker.ts'
import { queryFits, pathFits, headerFits } from '../servers/request-fit.ts'
import type { ReceivedRequest } from '../servers/http-server.ts'
import { includesPart } from '../match.ts'
import type { World } from '../world.ts'
import type { Faults } from './outcome.ts'

/** Longest virtual time that a step waits when it does not say. */
const PATIENCE = 30_000

const REQUEST_KEYS = ['query', 'headers', 'body', 'contentType', 'basicAuth', 'config', 'repeat', 'stop', 'respond', 'expect']

/** `post`, `get`, … : sends a request and checks the answer. */
export async function requestStep(world: World, step: Step, method: string): Promise<Faults> {
  assertKnown(step, [method, ...REQUEST_KEYS, 'name', 'oracle', 'note', 'needs'], 'the step')
  if (step['config'] !== undefined) await world.start(step['config'] as Fields)
  if (typeof step['stop'] === 'string') await world.servers.stub(step['stop']).close()
  if (step['respond'] !== undefined) world.servers.respond(step['respond'] as readonly Fields[])
  await world.settle()
  world.host.mark()
  const faults: string[] = []
  for (let count = 0; count < Number(step['repeat'] ?? 1); count++) {
    const seen = sinkCount(world)
    const answer = await send(world, step, method)
    faults.push(...await checkExpectation(world, step.expect ?? {}, answer, seen))
  }
  return faults
}

async function send(world: World, step: Step, method: string): Promise<Answer> {
  const { query, headers, body, contentType, basicAuth } = world.variables.resolve({
    query: step['query'], headers: step['headers'], body: step['body'], contentType: step['contentType'], basicAuth: step['basicAuth'],
  }) as { query?: Fields; headers?: Record<string, string>; body?: unknown; contentType?: string; basicAuth?: { username: string; password: string } }
  const target = String(step[method])
  const path = world.variables.resolve(target)
  const url = new URL(target.startsWith('${mock') ? path : `${await world.address()}${path}`)
  for (const [name, value] of Object.entries(query ?? {})) for (const item of [value].flat()) url.searchParams.append(name, String(item))
  const named = Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))
  return world.http.send({
    method,
    url: url.href,
    headers: {
      'content-type': contentType ?? 'application/json',
      ...basicAuth === undefined ? {} : { authorization: `Basic ${Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString('base64')}` },
      ...named,
    },
    ...body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) },
  })
}

/** Checks an answer, and what else the `expect` of a step asks for. */
async function checkExpectation(world: World, expected: Fields, answer: Answer, seen: number): Promise<Faults> {
  const faults = [...matchAnswer(expected, answer, world.variables)]
  if (expected['sink'] !== undefined) faults.push(...await checkSink(world, expected['sink'] as Fields, seen))
  if (expected['log'] !== undefined) faults.push(...await checkLog(world, expected['log'] as readonly string[]))
  return faults
}

/** How many requests the stub server `sink` has got; 0 when the case has none. */
function sinkCount(world: World): number {
  return world.servers.has('sink') ? world.servers.stub('sink').requests.length : 0
}

async function checkSink(world: World, sink: Fields, seen: number): Promise<Faults> {
  assertKnown(sink, ['atMost', 'count', 'events'], 'sink')
  const faults = (): Faults => {
    const got = world.servers.stub('sink').requests.slice(seen)
    const wrong: string[] = []
    if (sink['count'] !== undefined && got.length !== sink['count']) wrong.push(`the sink got ${got.length} requests, expected ${String(sink['count'])}`)
    for (const event of (sink['events'] ?? []) as readonly Fields[]) {
      assertKnown(event, ['contains', 'contentTypeContains', 'count'], 'an event of sink')
      const fitting = got.filter((request) => sinkEventFits(event, request)).length
      const wanted = event['count'] ?? 1
      if (fitting !== wanted) wrong.push(`the sink got ${fitting} requests with ${shorten(event)}, expected ${String(wanted)}; it got ${shorten(got.map(({ text }) => text))}`)
    }
    return wrong
  }
  const limit = sink['atMost'] === undefined ? 0 : parseDuration(String(sink['atMost']))
  await world.poll(() => (faults().length === 0 ? true : undefined), limit)
  return faults()
}

function sinkEventFits(event: Fields, { headers, text }: ReceivedRequest): boolean {
  // A binary event has its attributes in the headers: they count as content.
  const content = `${text}\n${Object.values(headers).join('\n')}`
  return ((event['contains'] ?? []) as readonly string[]).every((part) => content.includes(part)) &&
    (event['contentTypeContains'] === undefined || (headers['content-type'] ?? '').includes(String(event['contentTypeContains'])))
}

/** `emit`: sends an event to the product. */
export async function emitStep(world: World, step: Step): Promise<Faults> {
  assertKnown(step, ['emit', 'expect', 'name', 'oracle', 'note', 'needs'], 'the step')
  await world.settle()
  world.host.mark()
  const seen = sinkCount(world)
  const answer = await world.emit(step['emit'] as Fields)
  if (step.expect !== undefined) return checkExpectation(world, step.expect, answer, seen)
  return answer.status < 400 ? [] : [`the event was answered with ${answer.status}: ${shorten(answer.text)}`]
}

/** `wait`: polls an address or a stub until it is as expected, or never is. */
export async function waitStep(world: World, step: Step): Promise<Faults> {
  const wait = step['wait'] as Fields
  assertKnown(wait, ['get', 'until', 'never', 'atLeast', 'atMost', 'during', 'duration', 'capture', 'verifyMock'], 'wait')
  if (wait['duration'] !== undefined) {
    await world.advance(parseDuration(String(wait['duration'])))
    return []
  }
  const atMost = wait['atMost'] === undefined ? PATIENCE : parseDuration(String(wait['atMost']))
  if (wait['verifyMock'] !== undefined) {
    let faults: Faults = []
    await world.poll(() => ((faults = verifyMock(world, wait['verifyMock'] as Fields)).length === 0 ? true : undefined), atMost)
    return faults
  }
  return wait['never'] === undefined ? waitUntil(world, wait, atMost) : waitNever(world, wait)
}

async function waitUntil(world: World, wait: Fields, atMost: number): Promise<Faults> {
  const started = world.time.clock.now()
  let last: Faults = []
  // The origins poll every second, the first time after one: an event that has just been sent has been worked on by then.
  for (let elapsed = 1000; elapsed <= Math.max(1000, atMost); elapsed += 1000) {
    await world.advance(1000)
    const answer = await get(world, wait)
    last = matchAnswer((wait['until'] ?? {}) as Fields, answer, world.variables)
    if (last.length > 0) continue
    const waited = world.time.clock.now() - started
    const atLeast = wait['atLeast'] === undefined ? 0 : parseDuration(String(wait['atLeast']))
    if (waited < atLeast) return [`it was so after ${waited} ms, expected after ${atLeast} ms at the earliest`]
    return matchAnswer({ capture: wait['capture'] ?? {} }, answer, world.variables)
  }
  return last.map((fault) => `within ${atMost} ms: ${fault}`)
}

async function waitNever(world: World, wait: Fields): Promise<Faults> {
  const during = wait['during'] === undefined ? PATIENCE : parseDuration(String(wait['during']))
  for (let elapsed = 0; elapsed < during; elapsed += 1000) {
    await world.advance(1000)
    const answer = await get(world, wait)
    if (matchAnswer(wait['never'] as Fields, answer, world.variables).length === 0) {
      return [`after ${elapsed + 1000} ms the answer was as it must never be: status ${answer.status}, body ${shorten(answer.text)}`]
    }
  }
  return []
}

async function get(world: World, wait: Fields): Promise<Answer> {
  return send(world, { get: wait['get'] }, 'get')
}

/** `awaitEvent`: an event that the product publishes. */
export async function awaitEventStep(world: World, step: Step): Promise<Faults> {
  const fields = step['awaitEvent'] as Fields
  const pattern = toEventPattern(fields)
  const atMost = fields['atMost'] === undefined ? PATIENCE : parseDuration(String(fields['atMost']))
  const found = await world.poll(() => world.servers.broker.take(pattern, world.variables), atMost)
  if (found !== undefined) return []
  const types = world.servers.broker.events.map((event) => String(event['type']))
  return [`no event ${shorten(fields)} within ${atMost} ms; published were ${types.length === 0 ? 'none' : types.join(', ')}`]
}

/** `verifyMock`: what a stub server has got. */
export async function verifyMockStep(world: World, step: Step): Promise<Faults> {
  await world.settle()
  return verifyMock(world, step['verifyMock'] as Fields)
}

function verifyMock(world: World, fields: Fields): Faults {
  assertKnown(fields, ['method', 'path', 'query', 'headers', 'body', 'times'], 'verifyMock')
  const { method, path, query, headers, body } = world.variables.resolve(fields)
  const onPath = world.servers.all().flatMap(({ requests }) => requests)
    .filter((request) => request.method === String(method).toUpperCase() && pathFits(String(path), request.path))
  const fitting = onPath.filter((request) =>
    (query === undefined || queryFits(query as Fields, request.query)) &&
    Object.entries((headers ?? {}) as Fields).every(([name, value]) => headerFits(name, String(value), request.headers)) &&
    (body === undefined || includesPart(request.body, body)))
  const { times } = fields
  if (times === undefined ? fitting.length > 0 : fitting.length === times) return []
  const sent = onPath.map((request) => ({ query: request.query, headers: request.headers, body: request.body }))
  return [`the stub got ${fitting.length} requests ${String(method)} ${String(path)} as expected, wanted ${String(times ?? 'at least one')}; `
    + `of ${onPath.length} to that path: ${shorten(sent, 600)}`]
}

async function checkLog(world: World, texts: readonly string[]): Promise<Faults> {
  await world.settle()
  const missing = world.log.missing(texts.map((text) => world.variables.resolve(text)))
  return missing === undefined ? [] : [`no line of the log (after those of the texts before) has "${missing}"; the last were: ${world.log.tail(8)}`]
}

/** `log`: texts in the log, in order. */
export async function logStep(world: World, step: Step): Promise<Faults> {
  return checkLog(world, step['log'] as readonly string[])
}
