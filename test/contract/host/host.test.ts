import { createDurableProject } from '../../support/durable-runtime.ts'
import { HOST_SUITE_DEFINITIONS, hostSuite, type HostUnderTest } from './host-suite.ts'

async function open(store: string): Promise<HostUnderTest> {
  const project = await createDurableProject({ definitions: HOST_SUITE_DEFINITIONS, settings: { 'sonatina.store': store } })
  const runtime = await project.open()
  return {
    host: runtime.host,
    clock: project.clock,
    calls: project.calls,
    quiet: () => runtime.quiet(),
    async close() {
      await runtime.close(0)
      await project.remove()
    },
  }
}

hostSuite('memory', { open: () => open('memory') })
hostSuite('sqlite', { open: () => open('sqlite') })
