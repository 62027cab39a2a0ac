import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { restateBinary, startRestateServer } from '../support/restate-server.ts'
import { spread, startContender, stopContender } from './measure.ts'

// `npx tsx test/bench/restate.bench.ts [--rounds N] [--seconds S] [--connections C]`: a workflow of four steps on the distributed
// engine, against one written by hand with the engine's SDK, in turns. The last figure is how often slower ours is.

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '5' }, connections: { type: 'string', default: '50' }, 'no-build': { type: 'boolean', default: false } } })
const binary = restateBinary()
if (binary === undefined) process.exit(0)
if (!values['no-build'] && spawnSync('node', ['esbuild.config.js'], { stdio: 'inherit' }).status !== 0) process.exit(1)

const server = await startRestateServer({ binary })
const byHand = await startContender('by hand', new URL('contenders/restate-hand-written.ts', import.meta.url), {})
const registered = await fetch(`${server.adminUrl}/deployments`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ uri: byHand.url }) })
if (!registered.ok) throw new Error(`the engine refused the contender: ${await registered.text()}`)
const ours = await startContender('sonatina', new URL('contenders/restate-sonatina.ts', import.meta.url), { BENCH_SETTINGS: JSON.stringify(server.settings('bench')) })

const contenders = [
  { name: 'by hand', url: server.ingressUrl, path: () => `/HandWritten/${randomUUID()}/run`, rates: [] as number[] },
  { name: 'sonatina', url: ours.url, path: () => '/four', rates: [] as number[] },
]
for (let round = 0; round <= Number(values.rounds); round += 1) {
  for (const contender of contenders) {
    const rate = await load(contender)
    // The first round warms up.
    if (round > 0) contender.rates.push(rate)
  }
}
await stopContender(ours)
await stopContender(byHand)
await server.close()
const [hand, sonatina] = contenders.map(({ rates }) => spread(rates)) as [ReturnType<typeof spread>, ReturnType<typeof spread>]
for (const { name, rates } of contenders) {
  const { median, min, max } = spread(rates)
  console.log(`${name.padEnd(10)}${median.toFixed(0)} workflows/s (${min.toFixed(0)}–${max.toFixed(0)})`)
}
console.log(`restate: ${(hand.median / sonatina.median).toFixed(2)} times slower than by hand, ${values.connections} connections, ${values.rounds} rounds of ${values.seconds} s`)

async function load({ name, url, path }: { readonly name: string; readonly url: string; readonly path: () => string }): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({
    url,
    connections: Number(values.connections),
    duration: Number(values.seconds),
    requests: [{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"order":1}', setupRequest: (request) => ({ ...request, path: path() }) }],
  })
  if (non2xx > 0 || errors > 0) throw new Error(`${name}: ${String(non2xx)} answers were no success, ${String(errors)} errors`)
  return requests.average
}
