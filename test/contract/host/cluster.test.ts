import { inTurn, linkAll } from '../../support/cluster-links.ts'
import { createDurableProject } from '../../support/durable-runtime.ts'
import { HOST_SUITE_DEFINITIONS, hostSuite, type HostUnderTest } from './host-suite.ts'

/** Three processes behind one address: each call reaches another of them. */
async function open(): Promise<HostUnderTest> {
  const project = await createDurableProject({ definitions: HOST_SUITE_DEFINITIONS, settings: { 'sonatina.store': 'memory' } })
  const runtimes = await Promise.all(linkAll(3).map((cluster) => project.open({ cluster })))
  return {
    host: inTurn(runtimes.map(({ host }) => host)),
    clock: project.clock,
    calls: project.calls,
    async quiet() { for (const runtime of [...runtimes, ...runtimes]) await runtime.quiet() },
    async close() {
      await Promise.all(runtimes.map((runtime) => runtime.close(0)))
      await project.remove()
    },
  }
}

hostSuite('cluster', { open })
