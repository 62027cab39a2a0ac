import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { loadSdk } from '../../../lib/hosts/restate/sdk.ts'

// Four steps as one writes them with the SDK of the engine.

const { workflow, createEndpointHandler } = await loadSdk()
const step = (name: string): Promise<Record<string, number>> => Promise.resolve({ [name]: 1 })
const four = workflow({
  name: 'HandWritten',
  handlers: {
    async run(ctx, input: object) {
      let data = input
      for (const name of ['a', 'b', 'c', 'd']) data = { ...data, ...await ctx.run(name, () => step(name)) }
      return data
    },
  },
})
const server = createServer(createEndpointHandler({ services: [four], logger: () => undefined }))
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` })
})
