import type Router from '@koa/router'
import { LOG_LEVELS, isLogLevel } from '../../common/index.ts'
import { RequestError } from '../../errors/index.ts'
import { answerJson } from '../answer.ts'
import { readObject } from './instances.ts'
import type { ServerContext } from '../context.ts'
import { createPrometheus } from '../prometheus.ts'

interface Check {
  readonly name: string
  readonly status: 'UP' | 'DOWN'
  readonly data?: Readonly<Record<string, unknown>>
}

/** Adds `/q/health`, `/q/metrics` (http-contract.md §7). */
export function addServiceRoutes(router: Router, server: ServerContext): void {
  addHealthRoutes(router, server)
  if (!server.settings.metrics) return
  const prometheus = createPrometheus(server.metrics, server.application)
  router.get('/q/metrics', async (ctx) => {
    const { contentType, text } = await prometheus.scrape()
    ctx.status = 200
    ctx.set('Content-Type', contentType)
    ctx.body = text
  })
}

function addHealthRoutes(router: Router, server: ServerContext): void {
  const answer = (path: string, checks: () => Promise<readonly Check[]> | readonly Check[]): void => {
    router.get(path, async (ctx) => {
      const all = await checks()
      const status = all.every((check) => check.status === 'UP') ? 'UP' : 'DOWN'
      ctx.set('Cache-Control', 'no-store')
      answerJson(ctx, status === 'UP' ? 200 : 503, { status, checks: all })
    })
  }
  // Being answered at all is the proof: the event loop turns.
  const live = (): Check[] => [{ name: 'event loop', status: 'UP' }]
  const started = (): Check[] => [{ name: 'started', status: 'UP' }]
  const ready = async (): Promise<Check[]> => [definitionsCheck(server), await hostCheck(server), lifecycleCheck(server)]
  answer('/q/health/live', live)
  answer('/q/health/started', started)
  answer('/q/health/ready', ready)
  answer('/q/health', async () => [...live(), ...started(), ...(await ready())])
}

function definitionsCheck({ catalogue, settings, workflows }: ServerContext): Check {
  const broken = catalogue.failures.map(({ error, uri }) => ({ file: uri.slice(uri.lastIndexOf('/') + 1), code: error.code }))
  return {
    name: 'definitions',
    status: broken.length > 0 && settings.strict ? 'DOWN' : 'UP',
    data: { served: workflows.list().length, ...(broken.length === 0 ? {} : { broken }) },
  }
}

async function hostCheck({ host, log }: ServerContext): Promise<Check> {
  try {
    const { ready, reason } = await host.readiness()
    return { name: 'store', status: ready ? 'UP' : 'DOWN', ...(reason === undefined ? {} : { data: { reason } }) }
  } catch (error) {
    log.warn({ err: error }, 'the readiness of the host cannot be told')
    return { name: 'store', status: 'DOWN' }
  }
}

function lifecycleCheck({ lifecycle }: ServerContext): Check {
  return { name: 'lifecycle', status: lifecycle.stopping ? 'DOWN' : 'UP', ...(lifecycle.stopping ? { data: { reason: 'stopping' } } : {}) }
}

/** Adds `/messaging/topics`: the events that the served definitions consume and produce (http-contract.md §6). */
export function addTopicRoutes(router: Router, server: ServerContext): void {
  router.get('/messaging/topics', (ctx) => {
    const topics = new Map<string, { name: string; type: string; eventsMeta: object[] }>()
    for (const { loaded } of server.workflows.list()) {
      for (const event of loaded.definition.events) {
        const type = event.kind === 'consumed' ? 'INCOMING' : 'OUTGOING'
        const key = `${type} ${event.type}`
        const topic = topics.get(key) ?? { name: event.type, type, eventsMeta: [] }
        const meta = { type: event.type, source: event.source ?? '', kind: event.kind.toUpperCase(), specVersion: '1.0' }
        if (!topic.eventsMeta.some((known) => JSON.stringify(known) === JSON.stringify(meta))) topic.eventsMeta.push(meta)
        topics.set(key, topic)
      }
    }
    answerJson(ctx, 200, [...topics.values()])
  })
}

/** Adds `/management/log-levels`: levels by category, read and changed while serving. */
export function addLogLevelRoutes(router: Router, server: ServerContext): void {
  const { logLevels } = server
  if (logLevels === undefined) return
  router.get('/management/log-levels', (ctx) => { answerJson(ctx, 200, logLevels.levels()) })
  router.put('/management/log-levels', async (ctx) => {
    const body = await readObject(ctx, server)
    for (const [category, level] of Object.entries(body)) {
      if (level !== null && (typeof level !== 'string' || !isLogLevel(level))) {
        throw new RequestError({ code: 'REQUEST_INVALID', message: `Level of "${category}" is none of ${LOG_LEVELS.join(', ')}, or null to follow the others.` })
      }
    }
    for (const [category, level] of Object.entries(body)) logLevels.setLevel(category, typeof level === 'string' ? level : undefined)
    answerJson(ctx, 200, logLevels.levels())
  })
}
