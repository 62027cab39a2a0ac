import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

// `npm start`: serves this directory with dev services. What dist/ has not, or has no more, is bundled first; while another process does
// so, this one reads the packages that the server needs.

const PROGRAM = './dist/lib/cli/main.js'
// Bundling the last two would take longer than reading them once.
const SERVER = ['koa', '@koa/router', 'undici', 'ws', 'xstate', 'ajv/dist/2020.js', 'ajv-formats', 'prom-client', 'cloudevents', 'client-oauth2', 'pino', 'yaml',
  'swagger-client/lib/resolver/index.js', 'oidc-provider']

if (!await isCurrent()) {
  const { bundle } = await import('./esbuild.bundle.js')
  await Promise.all([bundle({ inside: [], isRelease: false }), ...SERVER.map((name) => import(name))])
  const { stop } = await import('esbuild')
  await stop()
}
process.argv.splice(2, 0, 'serve', '--profile', 'dev', '--set', 'sonatina.host-classes=dist/workflows/exchange-workflow-helper.js')
await import(PROGRAM)

async function isCurrent() {
  const made = await stat(PROGRAM).catch(() => undefined)
  if (made === undefined) return false
  const paths = ['lib', 'workflows'].map(async (folder) => [folder, ...(await readdir(folder, { recursive: true })).map((path) => join(folder, path))])
  const sources = (await Promise.all(paths)).flat().concat('package.json', 'package-lock.json', 'esbuild.bundle.js', 'esbuild.schema.js')
  const changed = await Promise.all(sources.map(async (path) => (await stat(path)).mtimeMs))
  return changed.every((time) => time < made.mtimeMs)
}
