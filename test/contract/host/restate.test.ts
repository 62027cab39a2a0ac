import { restateBinary, startRestateServer, type RestateServer } from '../../support/restate-server.ts'
import { HOST_SUITE_DEFINITIONS, hostSuite, type HostUnderTest } from './host-suite.ts'

const binary = restateBinary()

if (binary !== undefined) {
  describe('restate', function () {
    this.timeout(60_000)
    let server: RestateServer
    let count = 0
    before(async () => { server = await startRestateServer({ binary }) })
    after(() => server.close())

    async function open(): Promise<HostUnderTest> {
      count += 1
      // Imported here, not above: mocha loads this file as CommonJS, and the host is loaded as a module; they would see two interpreters.
      const { createDurableProject } = await import('../../support/durable-runtime.ts')
      const project = await createDurableProject({ definitions: HOST_SUITE_DEFINITIONS, settings: server.settings(`t${String(count)}`) })
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

    hostSuite('restate', { open })
  })
}
