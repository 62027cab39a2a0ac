import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { HTTP_ITEMS, runHttpItem, type Row } from './http-items.ts'
import { installPeers } from './peers.ts'

// `npm run bench [-- W1 …]`: measures work items and prints a row for each contender, the last figure being the ratio to the floor.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '15' },
    seconds: { type: 'string', default: '1' },
    json: { type: 'string' },
    baseline: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
  },
})

const MORE: Readonly<Record<string, () => Promise<void>>> = { W5: waitingInstances, W6: coldStarts, W7: expressions, GROWTH: growthRuns, MILLION: millionRun }
const ALL = [...Object.keys(HTTP_ITEMS), ...Object.keys(MORE)]
const wanted = positionals.length === 0 ? ALL : positionals.map((name) => name.toUpperCase())
const unknown = wanted.filter((name) => !ALL.includes(name))
if (unknown.length > 0) {
  console.error(`There is no work item ${unknown.join(', ')}; there are ${ALL.join(', ')}`)
  process.exit(2)
}

if (!values['no-build']) {
  const built = spawnSync('npm', ['run', '-s', 'build'], { stdio: 'inherit' })
  if (built.status !== 0) process.exit(1)
}

console.log(`${cpus()[0]?.model ?? 'unknown processor'}, ${String(cpus().length)} cores, Node ${process.version}, ${new Date().toISOString()}`)
const rows: Row[] = []
const more: Record<string, unknown> = {}
const missingPeers = wanted.some((item) => HTTP_ITEMS[item] !== undefined) ? installPeers() : undefined
if (missingPeers !== undefined) console.error(`WITHOUT PEERS: ${missingPeers}`)
for (const item of wanted) await (MORE[item]?.() ?? http(item))
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ node: process.version, rows, ...more }, null, 2)}\n`)
if (values.baseline !== undefined) await compare(values.baseline)

async function http(item: string): Promise<void> {
  const found = await runHttpItem(item, { rounds: Number(values.rounds), seconds: Number(values.seconds), peers: missingPeers === undefined })
  rows.push(...found)
  console.log(`\n${item}  ${'contender'.padEnd(24)}${'CPU µs/request'.padEnd(28)}${'requests/s'.padEnd(12)}${'p50 ms'.padEnd(8)}${'p99 ms'.padEnd(8)}ratio`)
  for (const { contender, cpu, requestsPerSecond, p50, p99, ratio } of found) {
    const figures = `${cpu.median.toFixed(1)} (${cpu.min.toFixed(1)}–${cpu.max.toFixed(1)})`
    console.log(`    ${contender.padEnd(24)}${figures.padEnd(28)}${requestsPerSecond.median.toFixed(0).padEnd(12)}${String(p50).padEnd(8)}${String(p99).padEnd(8)}${ratio.toFixed(2)}`)
  }
}

async function expressions(): Promise<void> {
  const { runW7 } = await import('./w7.ts')
  console.log(`\nW7  ${'program'.padEnd(50)}${'contender'.padEnd(16)}${'evaluations/s'.padEnd(16)}times slower than JavaScript`)
  for (const { program, contender, median, ratio } of await runW7()) {
    console.log(`    ${program.padEnd(50)}${contender.padEnd(16)}${median.toFixed(0).padEnd(16)}${ratio.toFixed(1)}`)
  }
  const { measureW7Costs } = await import('./w7-costs.ts')
  const { compilesPerSecond, heap, guard, importTime } = await measureW7Costs()
  console.log(`    compiled a second ${compilesPerSecond.toFixed(0)} (at least 20000) · heap of 2000 programs ${heap.toFixed(1)} MiB (at most 25) · import ${importTime.toFixed(1)} ms (at most 30)`)
  console.log(`    limits cost ${guard.map((ratio) => ratio.toFixed(2)).join(' ')} times the evaluation without (at most 1.6)`)
}

async function waitingInstances(): Promise<void> {
  const { w5 } = await import('./w5.ts')
  for (const store of ['memory', 'sqlite']) {
    const found = await w5(100_000, store)
    more[`W5 ${store}`] = found
    console.log(`\nW5  ${store}: ${JSON.stringify(found)}`)
  }
}

async function coldStarts(): Promise<void> {
  const { coldStart } = await import('./cold-start.ts')
  const found = await coldStart(Number(values.rounds))
  more['W6'] = found
  console.log(`\nW6  ${'contender'.padEnd(28)}${'ms to the first answer'.padEnd(28)}${'CPU ms'.padEnd(10)}ratio`)
  for (const { contender, milliseconds, cpuMilliseconds, ratio } of found) {
    const figures = `${milliseconds.median.toFixed(0)} (${milliseconds.min.toFixed(0)}–${milliseconds.max.toFixed(0)})`
    console.log(`    ${contender.padEnd(28)}${figures.padEnd(28)}${cpuMilliseconds.median.toFixed(0).padEnd(10)}${ratio.toFixed(2)}`)
  }
}

async function growthRuns(): Promise<void> {
  const { growth } = await import('./growth.ts')
  const found = await growth()
  more['growth'] = found
  console.log('\nGROWTH')
  for (const { what, points, exponent } of found) {
    const figures = points.map(({ size, microseconds }) => `${String(size)}: ${microseconds.toFixed(1)} µs`).join(', ')
    console.log(`    ${what.padEnd(36)}exponent ${exponent.toFixed(3)}   ${figures}`)
  }
}

async function millionRun(): Promise<void> {
  const { million } = await import('./million.ts')
  const found = await million()
  more['million'] = found
  const { instances, perSecond, heapBefore, heapAfter, p99 } = found
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`
  console.log(`\nMILLION  ${String(instances)} instances, ${String(perSecond)}/s, heap ${megabytes(heapBefore)} → ${megabytes(heapAfter)}, ` +
    `p99 by tenth ${p99.map((value) => value.toFixed(2)).join(' ')} ms`)
}

async function compare(path: string): Promise<void> {
  if (!existsSync(path)) {
    console.error(`There is no baseline at ${path}; write one with --json`)
    process.exit(2)
  }
  const before = JSON.parse(await readFile(path, 'utf8')) as { rows: readonly Row[] }
  console.log('\nratio to the floor, before and now')
  for (const { item, contender, ratio } of rows) {
    const old = before.rows.find((row) => row.item === item && row.contender === contender)
    if (old !== undefined) console.log(`    ${item} ${contender.padEnd(24)}${old.ratio.toFixed(2)} → ${ratio.toFixed(2)}`)
  }
}
