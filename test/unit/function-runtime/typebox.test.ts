import { Type } from '@sinclair/typebox'
import { expect } from 'chai'
import { createFunctionRegistry, defineFunction, json } from '../../../lib/function-runtime/index.ts'

const Order = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  lines: Type.Array(Type.Object({ sku: Type.String(), price: Type.Number() })),
  note: Type.Optional(Type.String()),
})

describe('schemas of TypeBox', () => {
  it('are taken as they are, and carry their types', async () => {
    const total = defineFunction({ input: json(Order), output: json(Type.Number()) }, ({ lines, note }) =>
      lines.reduce((sum, { price }) => sum + price, note === undefined ? 0 : note.length))
    const registry = createFunctionRegistry({ total })
    expect(await registry.invoke('total', { id: 1, lines: [{ sku: 'a', price: 2 }, { sku: 'b', price: 3 }] })).to.equal(5)
    const refusal = await registry.invoke('total', { id: 0, lines: [] }).catch((error: unknown) => (error as Error).message)
    expect(refusal).to.include('/id must be >= 1')
  })
})
