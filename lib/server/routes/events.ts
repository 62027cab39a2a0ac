import type { IncomingHttpHeaders } from 'node:http'
import type Koa from 'koa'
import { RequestError } from '../../errors/index.ts'
import { BATCH_MEDIA_TYPE, EVENT_MEDIA_TYPE, decodeHttp, parseMediaType } from '../../events/index.ts'
import { isEncoded, readBody } from '../body.ts'
import type { ServerContext } from '../context.ts'
import { logContext } from '../correlation.ts'

/** Finds out whether a path receives events, and answers it (http-contract.md §5). */
export interface EventEndpoint {
  accepts(path: string): boolean
  answer(ctx: Koa.Context): Promise<void>
}

/**
 * Creates the endpoint of inbound CloudEvents: `/` while a consumed type has no path of its own, and the configured paths of
 * channels whose type some definition consumes.
 */
export function createEventEndpoint(server: ServerContext): EventEndpoint {
  const { host, settings, log, workflows } = server
  const read = createPaths(server)
  return {
    accepts: (path) => workflows.consumedTypes.size > 0 && read().has(withoutSlash(path)),
    async answer(ctx) {
      if (ctx.method === 'OPTIONS') {
        ctx.set('Allow', 'POST, OPTIONS')
        ctx.status = 204
        return
      }
      if (ctx.method !== 'POST') throw notPost(ctx.path)
      assertMediaType(ctx.req.headers)
      const body = await readBody(ctx.req, settings.maxBodySize)
      const { event } = decodeHttp({ headers: ctx.req.headers, body }, { maxDepth: settings.maxDepth, anonymousSource: settings.anonymousSources })
      const delivery = await host.deliver(event)
      if (delivery.instances.length === 0) {
        log.info({ ...logContext(ctx.req), eventId: event.id, eventType: event.type, eventSource: event.source }, 'event ignored: nothing waits for it')
      }
      ctx.body = null
      // Koa makes a 204 of an answer without body unless it is told otherwise afterwards.
      ctx.status = 202
    },
  }
}

function createPaths({ settings, workflows }: ServerContext): () => ReadonlySet<string> {
  let revision = -1
  let paths: ReadonlySet<string> = new Set()
  return () => {
    if (revision === workflows.revision) return paths
    revision = workflows.revision
    const channels = Object.entries(settings.eventPaths)
    const moved = new Set(channels.filter(([, path]) => path !== '/').map(([channel]) => channel))
    const found = channels.map(([, path]) => settings.rootPath + path)
    if ([...workflows.consumedTypes].some((type) => !moved.has(type))) found.push(settings.rootPath)
    paths = new Set(found.map(withoutSlash))
    return paths
  }
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function assertMediaType(headers: IncomingHttpHeaders): void {
  const contentType = headers['content-type']
  if (isEncoded(headers)) throw unsupported(`A body with Content-Encoding "${headers['content-encoding'] ?? ''}" cannot be read. Send the event without content encoding.`)
  const essence = contentType === undefined ? undefined : parseMediaType(contentType)?.essence
  if (essence === BATCH_MEDIA_TYPE) throw unsupported('Batches of events are not taken. Send one event a request.')
  if (headers['ce-id'] !== undefined || essence === EVENT_MEDIA_TYPE || essence === 'application/json') return
  throw unsupported(`Content-Type "${contentType ?? ''}" without header ce-id carries no event. Send ${EVENT_MEDIA_TYPE}, or the ce- headers.`)
}

function unsupported(message: string): RequestError {
  return new RequestError({ code: 'MEDIA_TYPE_UNSUPPORTED', message, details: { acceptPost: `${EVENT_MEDIA_TYPE}, application/json` } })
}

function notPost(path: string): RequestError {
  return new RequestError({ code: 'METHOD_NOT_ALLOWED', message: `${path} takes events by POST only.`, details: { allow: ['POST'] } })
}
