import { createEvaluator } from '../../lib/tenancy/evaluate.ts'
import { generateTenant } from '../../lib/tenancy/generate.ts'
import { resolveInputs } from '../../lib/tenancy/inputs.ts'
import { createProbes } from '../../lib/tenancy/probes.ts'
import { generateSystem } from '../../lib/tenancy/system.ts'

// Prints what a decision costs with the documents of ten tenants: `npx tsx test/bench/tenancy.bench.ts`. Target: 5 µs (tenancy.md, section 7).
const tenants = Array.from({ length: 10 }, (_, index) => ({ name: `team-${String(index)}`, namespaces: [`team-${String(index)}-a`, `team-${String(index)}-b`] }))
const inputs = resolveInputs({ tenants }, 'bench')
const probes = createProbes(inputs.values)
const last = inputs.tenants.at(-1)!
const headers: [string, string][] = [['Accept', '*/*'], ['User-Agent', 'bench'], ['Content-Type', 'application/json'], ['Kn-Namespace', 'team-9-a'], ['Ce-Id', '1'], ['Ce-Type', 't']]

for (const strict of [false, true]) {
  const documents = [...generateSystem(inputs.values), ...inputs.tenants.flatMap((tenant) => generateTenant(tenant, inputs.values, { strict }))]
  const started = process.hrtime.bigint()
  const evaluator = createEvaluator(documents)
  const loaded = Number(process.hrtime.bigint() - started) / 1e6
  console.log(`${strict ? 'strict' : 'chart'}: ${String(documents.length)} documents validated and compiled in ${loaded.toFixed(1)} ms`)
  const calls = {
    'own workload, allowed': probes.toWorkload(probes.identityOf(last), 'team-9-b', { headers }),
    'foreign workload, denied': probes.toWorkload(probes.identityOf(last), 'team-0-a', { headers }),
    'own broker, allowed': probes.toReceiver(probes.identityOf(last), 'broker-ingress', { path: '/team-9-a/default', headers }),
    'foreign broker, denied': probes.toReceiver(probes.identityOf(last), 'broker-ingress', { path: '/team-0-a/default', headers }),
    'sender at a broker, denied last': probes.toReceiver(probes.identity('knative-eventing', 'imc-dispatcher'), 'kafka-broker-receiver', { path: '/nobody/default', headers }),
    'activator, allowed': probes.toActivator(probes.identityOf(last), 'team-9-a', { headers }),
  }
  for (const [name, call] of Object.entries(calls)) {
    const workload = evaluator.workload(call.destination)
    const rounds = 200_000
    for (let round = 0; round < rounds / 10; round += 1) workload.decide(call)
    // CPU time, because the machine may be busy with other things.
    const before = process.cpuUsage()
    for (let round = 0; round < rounds; round += 1) workload.decide(call)
    const { user, system } = process.cpuUsage(before)
    const cost = (user + system) / rounds
    console.log(`  ${name.padEnd(34)} ${cost.toFixed(2)} µs (${String(workload.policies)} policies, ${workload.decide(call).outcome})`)
  }
}
