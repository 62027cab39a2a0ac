import { createHash } from 'node:crypto'
import type Router from '@koa/router'
import type { ServerContext } from '../context.ts'
import { createDocument } from '../openapi/document.ts'

interface Rendered {
  readonly text: string
  readonly etag: string
}

/** Adds `/q/openapi`: YAML, or JSON by `?format=json` or `Accept` (http-contract.md §7). */
export function addOpenApiRoutes(router: Router, server: ServerContext): void {
  const render = createRenderer(server)
  router.get('/q/openapi', async (ctx) => {
    const format = formatOf(ctx.query['format'], ctx.get('Accept'))
    const { text, etag } = await render(format)
    ctx.status = 200
    ctx.set('ETag', etag)
    ctx.set('Cache-Control', 'no-cache')
    ctx.vary('Accept')
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    ctx.set('Content-Type', format === 'json' ? 'application/json; charset=utf-8' : 'application/yaml; charset=utf-8')
    ctx.body = text
  })
}

function formatOf(query: string | string[] | undefined, accept: string): 'json' | 'yaml' {
  const asked = (Array.isArray(query) ? query[0] : query)?.toLowerCase()
  if (asked === 'json' || asked === 'yaml') return asked
  return /\bapplication\/json\b/i.test(accept) && !/\byaml\b/i.test(accept) ? 'json' : 'yaml'
}

// Definitions change seldom and documents can be large: each form is made once per change.
function createRenderer(server: ServerContext): (format: 'json' | 'yaml') => Promise<Rendered> {
  const { settings, workflows, application } = server
  const cache = new Map<string, Promise<Rendered>>()
  let revision = -1
  return (format) => {
    if (revision !== workflows.revision) {
      revision = workflows.revision
      cache.clear()
    }
    let rendered = cache.get(format)
    if (rendered === undefined) {
      rendered = renderAs(format, createDocument(workflows.list(), {
        application,
        server: (settings.serviceUrl ?? '') + settings.rootPath,
        management: settings.management && settings.managementPort === undefined,
        metrics: settings.metrics,
        events: workflows.consumedTypes.size > 0,
      }))
      cache.set(format, rendered)
    }
    return rendered
  }
}

async function renderAs(format: 'json' | 'yaml', document: object): Promise<Rendered> {
  // Loaded when first asked for: most services are never asked.
  const text = format === 'json' ? JSON.stringify(document, null, 2) : (await import('yaml')).stringify(document, { aliasDuplicateObjects: false })
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` }
}
