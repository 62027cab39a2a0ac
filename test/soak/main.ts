import { parseArgs } from 'node:util'
import { engineSoak, type Scenario } from './engine-soak.ts'
import { soak } from './soak.ts'

// `npm run soak -- [--host memory|sqlite|restate] [--instances N] [--kills K] [--seed S]`: prints one summary line.
// With `--host restate` also `[--server-kills K] [--scenario kills|worker-lost|worker-frozen|node-lost]`.

const DEFAULT_INSTANCES: Readonly<Record<string, number>> = { kills: 60, 'worker-lost': 100, 'worker-frozen': 60, 'node-lost': 60 }

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: 'sqlite' },
    instances: { type: 'string' },
    kills: { type: 'string' },
    'server-kills': { type: 'string', default: '2' },
    scenario: { type: 'string', default: 'kills' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const { host, seed } = values
const onEngine = host === 'restate'
const instances = Number(values.instances ?? (onEngine ? DEFAULT_INSTANCES[values.scenario] : undefined) ?? 300)
const kills = Number(values.kills ?? (onEngine ? 4 : 18))
const { faults, line } = onEngine ? await onTheEngine() : await inOneProcess()
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.stdout.write(`${line}, ${String(faults.length)} faults, seed ${seed}\n`)
process.exitCode = faults.length === 0 ? 0 : 1

async function inOneProcess(): Promise<{ faults: readonly string[]; line: string }> {
  const { done, faults, repeated, seconds, kills: killed } = await soak({ host, instances, kills: host === 'memory' ? 0 : kills, seed: Number(seed) })
  return { faults, line: `soak ${host}: ${String(done)}/${String(instances)} done, ${String(killed)} kills, ${String(repeated)} effects repeated, ${String(seconds)} s` }
}

async function onTheEngine(): Promise<{ faults: readonly string[]; line: string }> {
  const scenario = values.scenario as Scenario
  const result = await engineSoak({ scenario, instances, workerKills: kills, serverKills: Number(values['server-kills']), seed: Number(seed) })
  const { done, faults, repeated, seconds, serverKills, recovered } = result
  const killed = `${String(result.kills)} worker kills, ${String(serverKills)} server kills`
  return { faults, line: `soak restate ${scenario}: ${String(done)}/${String(instances)} done, ${killed}, ${String(repeated)} effects repeated, all done ${String(recovered)} s after the last, ${String(seconds)} s` }
}
