import type * as Product from '../../../lib/index.ts'

// The same four steps as a definition, on the engine: front and worker in one process, of the product as it is published.

const product = new URL('../../../dist/lib/index.js', import.meta.url).href
const { createRuntime, silentLogger } = await import(product) as typeof Product
const names = ['a', 'b', 'c', 'd']
const runtime = await createRuntime({
  environment: {},
  hostClasses: new Map(),
  settings: JSON.parse(process.env['BENCH_SETTINGS'] ?? '{}') as Record<string, string>,
  definitions: [{
    uri: 'four.sw.json',
    document: {
      id: 'four', version: '1', specVersion: '0.8', start: 'a',
      functions: names.map((name) => ({ name, type: 'custom', operation: `bench:${name}` })),
      states: names.map((name, index) => {
        const next = names[index + 1]
        return { name, type: 'operation', actions: [{ functionRef: name }], ...(next === undefined ? { end: true } : { transition: next }) }
      }),
    },
  }],
  functionTypes: new Map([['bench', (operation) => Promise.resolve({ output: { [operation.split(':')[1] ?? '']: 1 } })]]),
  log: silentLogger,
})
const { url } = await runtime.listen({ host: '127.0.0.1', port: 0 })
process.send?.({ url })
