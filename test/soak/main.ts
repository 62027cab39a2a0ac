import { parseArgs } from 'node:util'
import { soak } from './soak.ts'

// `npm run soak -- [--host memory|sqlite|restate] [--instances N] [--kills K] [--seed S]`: prints one summary line.

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: 'sqlite' },
    instances: { type: 'string', default: '300' },
    kills: { type: 'string', default: '18' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const { host, instances, kills, seed } = values
const { done, faults, repeated, seconds, kills: killed } = await soak({ host, instances: Number(instances), kills: host === 'memory' ? 0 : Number(kills), seed: Number(seed) })
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.stdout.write(`soak ${host}: ${String(done)}/${instances} done, ${String(killed)} kills, ${String(repeated)} effects repeated, ${String(faults.length)} faults, ${String(seconds)} s, seed ${seed}\n`)
process.exitCode = faults.length === 0 ? 0 : 1
