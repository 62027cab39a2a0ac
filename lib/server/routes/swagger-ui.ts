import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Router from '@koa/router'
import { RequestError } from '../../errors/index.ts'
import type { ServerContext } from '../context.ts'

/** The files of swagger-ui-dist that are served; nothing else of the package is. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png',
}

// Scripts and styles come from here alone. Swagger UI draws with style attributes and shows icons from data: addresses.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Adds `/q/swagger-ui`, served from local files and pointing at `/q/openapi` (http-contract.md §7). */
export function addSwaggerUiRoutes(router: Router, server: ServerContext): void {
  const base = `${server.settings.rootPath}/q/swagger-ui`
  const cache = new Map<string, Promise<Buffer>>()
  const pages: Readonly<Record<string, readonly [type: string, text: string]>> = {
    '': ['text/html; charset=utf-8', page(base)],
    'index.html': ['text/html; charset=utf-8', page(base)],
    'start.js': ['text/javascript; charset=utf-8', script(`${server.settings.rootPath}/q/openapi`)],
    'page.css': ['text/css; charset=utf-8', 'html { box-sizing: border-box; overflow-y: scroll } body { margin: 0; background: #fafafa }\n'],
  }
  router.get('/q/swagger-ui{/:file}', async (ctx) => {
    const file = ctx.params['file'] ?? ''
    const own = Object.hasOwn(pages, file) ? pages[file] : undefined
    const type = own?.[0] ?? (Object.hasOwn(FILES, file) ? FILES[file] : undefined)
    if (type === undefined) throw new RequestError({ code: 'ADDRESS_UNKNOWN', message: `Swagger UI has no file "${file}".` })
    ctx.status = 200
    ctx.set('Content-Type', type)
    ctx.set('Content-Security-Policy', POLICY)
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Referrer-Policy', 'no-referrer')
    ctx.set('Cache-Control', own === undefined ? 'public, max-age=86400' : 'no-cache')
    ctx.body = own?.[1] ?? await readOnce(cache, file)
  })
}

async function readOnce(cache: Map<string, Promise<Buffer>>, file: string): Promise<Buffer> {
  let content = cache.get(file)
  if (content === undefined) {
    content = import('swagger-ui-dist/absolute-path.js').then(({ default: directory }) => readFile(join(directory(), file)))
    cache.set(file, content)
  }
  return content
}

function page(base: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Workflows</title>
<link rel="icon" type="image/png" href="${base}/favicon-32x32.png" sizes="32x32">
<link rel="stylesheet" href="${base}/swagger-ui.css">
<link rel="stylesheet" href="${base}/page.css">
</head>
<body>
<main id="swagger-ui"></main>
<script src="${base}/swagger-ui-bundle.js"></script>
<script src="${base}/start.js"></script>
</body>
</html>
`
}

function script(document: string): string {
  const options = { url: document, dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, layout: 'BaseLayout' }
  return `window.ui = SwaggerUIBundle({ ...${JSON.stringify(options)}, presets: [SwaggerUIBundle.presets.apis] })\n`
}
