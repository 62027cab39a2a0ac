import { parseArgs } from 'node:util'
import { runImages } from './crash/images.ts'
import { runKill } from './crash/kills.ts'
import { POINTS, WORKFLOWS } from './crash/workflows.ts'

// `npm run crash-points -- [--workflow ID]… [--kills N]`: continues each workflow of the matrix from every point that it passes, and
// kills a real process at each point, the first N times it is passed (0: none); prints one summary line.

const { values } = parseArgs({ options: { workflow: { type: 'string', multiple: true }, kills: { type: 'string', default: '1' } } })
const chosen = WORKFLOWS.filter(({ id }) => values.workflow?.includes(id) ?? true)
const started = performance.now()
const faults: string[] = []
const passed = new Set<string>()
let images = 0
for (const workflow of chosen) {
  const result = await runImages(workflow, () => true)
  images += result.images
  faults.push(...result.faults)
  for (const point of result.points) passed.add(point)
}
const crashes = chosen.flatMap((workflow) => POINTS.flatMap((point) =>
  Array.from({ length: Number(values.kills) }, (_, index) => ({ workflow, crash: `${point}@${String(index + 1)}` }))))
let killed = 0
const work = async (): Promise<void> => {
  for (let next = crashes.shift(); next !== undefined; next = crashes.shift()) {
    const result = await runKill(next.workflow, next.crash)
    killed += Number(result.killed)
    faults.push(...result.faults)
  }
}
await Promise.all([work(), work()])
if (values.workflow === undefined) faults.push(...POINTS.filter((point) => !passed.has(point)).map((point) => `no workflow passes the point ${point}`))
for (const fault of faults) process.stderr.write(`${fault}\n`)
const seconds = Math.round((performance.now() - started) / 1000)
process.stdout.write(`crash points: ${String(POINTS.length)} points, ${String(chosen.length)} workflows, ${String(images)} images continued, ${String(killed)} processes killed, ${String(faults.length)} faults, ${String(seconds)} s\n`)
process.exitCode = faults.length === 0 ? 0 : 1
