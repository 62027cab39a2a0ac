import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { silentLogger, type Json } from '../../lib/common/index.ts'
import { createRuntime } from '../../lib/runtime.ts'
import type { Runtime, RuntimeOptions } from '../../lib/runtime-options.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const SECRET = 'pl4nted-s3cret-value'
export const HOSTILE = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'

const functions = [{ name: 'call', type: 'custom', operation: 'test:call' }, { name: 'fail', type: 'custom', operation: 'test:fail' }, { name: 'slow', type: 'custom', operation: 'test:slow' }]
const common = { version: '1.0', specVersion: '0.8', functions, errors: [{ name: 'broken', code: 'TEST_BROKEN' }] }
const act = (name: string, refName: string): Json => ({ name, functionRef: refName })
const inject = (name: string, data: Json, way: Record<string, Json>): Json => ({ name, type: 'inject', data, ...way })

/** Definitions that show what the reference workflows do not. */
const DEFINITIONS: readonly Record<string, Json>[] = [
  { id: 'handled', start: 'Call', ...common, states: [
    { name: 'Call', type: 'operation', actions: [act('fails', 'fail')], onErrors: [{ errorRef: 'broken', transition: 'Told' }], transition: 'Fine' },
    inject('Fine', { ok: true }, { end: true }), inject('Told', { ok: false }, { end: true }),
  ] },
  { id: 'unhandled', start: 'Call', ...common, states: [{ name: 'Call', type: 'operation', actions: [act('fails', 'fail')], end: true }] },
  { id: 'slow', start: 'Call', ...common, states: [{ name: 'Call', type: 'operation', actions: [act('waits', 'slow')], transition: 'After' }, inject('After', { after: 1 }, { end: true })] },
  { id: 'waits', start: 'Before', ...common, events: [{ name: 'go', type: 'test.go', source: 'test', kind: 'consumed' }], states: [
    inject('Before', { waited: false }, { transition: 'Wait' }),
    { name: 'Wait', type: 'event', onEvents: [{ eventRefs: ['go'], actions: [] }], end: true },
  ] },
  { id: 'hostile', start: HOSTILE, ...common, name: HOSTILE, states: [inject(HOSTILE, { [HOSTILE]: HOSTILE, password: SECRET, url: `https://user:${SECRET}@host/?token=${SECRET}` }, { end: true })] },
  { id: 'loops', start: 'Each', ...common, states: [{ name: 'Each', type: 'foreach', inputCollection: '${ .list }', iterationParam: 'one', mode: 'sequential', actions: [act('calls', 'call')], end: true }] },
  { id: 'forty', start: 'S0', ...common, states: [
    ...Array.from({ length: 39 }, (_, index): Json => ({
      name: `S${String(index)}`, type: 'operation', actions: [act('calls', 'call')], transition: index < 38 ? `S${String(index + 1)}` : 'End',
      ...(index % 3 === 0 ? { onErrors: [{ errorRef: 'broken', transition: 'Failed' }] } : {}),
    })),
    inject('End', {}, { end: true }), inject('Failed', {}, { end: true }),
  ] },
]

/** A runtime that listens, with a way to let the slow function go on. */
export interface Served {
  readonly runtime: Runtime
  readonly url: string
  release(): void
  start(workflow: string, input?: Json): Promise<{ readonly id: string; readonly status: number }>
  close(): Promise<void>
}

/** Serves the reference workflows and {@link DEFINITIONS}, inspector included. */
export async function serve(settings: Record<string, string> = {}, options: RuntimeOptions = {}): Promise<Served> {
  let release = (): void => undefined
  const gate = new Promise<void>((resolve) => { release = resolve })
  const runtime = await createRuntime({
    root: ROOT,
    profile: 'dev',
    environment: {},
    log: silentLogger,
    definitions: [`${ROOT}workflows`, ...DEFINITIONS.map((document) => ({ uri: `${String(document['id'])}.sw.json`, text: JSON.stringify(document, undefined, 2) }))],
    functionTypes: new Map([['test', async (operation: string) => {
      if (operation.endsWith('fail')) throw Object.assign(new Error(`it broke with token=${SECRET}`), { code: 'TEST_BROKEN' })
      if (operation.endsWith('slow')) await gate
      return { output: { called: true } }
    }]]),
    ...options,
    settings: { 'sonatina.store': 'memory', 'sonatina.definitions.watch': 'false', ...settings },
  })
  const { url } = await runtime.listen({ port: 0 })
  return {
    runtime,
    url,
    release,
    async start(workflow, input = {}) {
      const response = await fetch(`${url}/${workflow}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(input) })
      const body = await response.json() as { id?: string; processInstanceId?: string }
      return { id: body.id ?? body.processInstanceId ?? '', status: response.status }
    },
    async close() {
      release()
      await runtime.close(0)
    },
  }
}

export const EXCHANGE: Json = { currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10', amount: 25 }

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path))
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

/** Starts the browser of the system; without one the suite is skipped aloud, and fails where `CI` is set. */
export async function launch(context: Mocha.Context): Promise<Browser> {
  if (CHROMIUM === undefined) {
    if (process.env['CI'] !== undefined) throw new Error('the browser tests need chromium: apt-get install chromium')
    process.stderr.write('      skipped: no chromium\n')
    context.skip()
  }
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}
