import { parseArgs } from 'node:util'
import { soak } from './soak.ts'

// `npm run crash-points -- [--upto N]`: kills the process at each point, the first N times it is passed; prints one summary line.

const POINTS = [
  'before-commit', 'after-commit', 'before-effect', 'after-effect', 'before-answer',
  ...['instance', 'timer', 'wait', 'history', 'inbox', 'outbox', 'effect', 'definition', 'idempotency'].map((table) => `write:${table}`),
]

const { values } = parseArgs({ options: { upto: { type: 'string', default: '4' } } })
let runs = 0
let killed = 0
const faults: string[] = []
for (const point of POINTS) {
  for (let number = 1; number <= Number(values.upto); number += 1) {
    const crash = `${point}@${String(number)}`
    const result = await soak({ host: 'sqlite', instances: 3, kills: 0, seed: number, crash })
    runs += 1
    killed += Math.min(1, result.kills)
    faults.push(...result.faults.map((fault) => `${crash}: ${fault}`))
  }
}
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.stdout.write(`crash points: ${String(POINTS.length)} points, ${String(runs)} runs, ${String(killed)} kills, ${String(faults.length)} faults\n`)
process.exitCode = faults.length === 0 ? 0 : 1
