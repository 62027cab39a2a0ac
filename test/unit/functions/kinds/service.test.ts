import { expect } from 'chai'
import type { Json } from '../../../../lib/common/index.ts'
import { DefinitionError, FunctionError } from '../../../../lib/errors/index.ts'
import type { FunctionCall, FunctionResult } from '../../../../lib/functions/index.ts'
import { callOf, createTestCompiler } from '../support.ts'

class Numbers {
  static readonly parameters = { divide: ['dividend', 'divisor'] }
  static readonly pure = ['double']

  readonly factor = 2

  divide(dividend: number, divisor: number): number { return dividend / divisor }
  double({ number }: { readonly number: number }): { doubled: number } { return { doubled: number * this.factor } }
  async later(data: Json): Promise<Json> { return await Promise.resolve({ later: data }) }
  squares(numbers: readonly number[]): number[] { return numbers.map((number) => number ** 2) }
  whoCalls(_data: Json, context: FunctionCall['context']): Json { return [context.workflowId, context.instanceId, context.headers['pepe'] ?? null] }
  damage(data: { list: number[] }): void { data.list.push(1) }
  result(_data: Json): unknown { return this.next }
  fail(): never { throw new RangeError('Odd situation') }

  next: unknown
}

const numbers = new Numbers()
const hostClasses = new Map<string, object>([['Numbers', numbers], ['org.acme.Full', { hello: () => 'hi' }]])

async function invoke(operation: string, call: FunctionCall): Promise<FunctionResult> {
  await using compiler = await createTestCompiler({ hostClasses })
  return await (await compiler.compile({ operation })).invoke(call)
}

async function failure(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  return undefined
}

describe('functions/kinds/service', () => {
  it('calls a method with one object of named arguments and keeps `this`', async () => {
    expect(await invoke('service:Numbers::double', callOf({ number: 4 }))).to.deep.equal({ output: { doubled: 8 } })
  })

  it('calls positionally where the class declares parameter names, whatever order the arguments come in', async () => {
    expect((await invoke('service:Numbers::divide', callOf({ divisor: 2, dividend: 8 }))).output).to.equal(4)
  })

  it('tells which methods change nothing outside, where the class says so', async () => {
    await using compiler = await createTestCompiler({ hostClasses })
    expect(await compiler.compile({ operation: 'service:Numbers::double' })).to.have.property('isPure', true)
    expect(await compiler.compile({ operation: 'service:Numbers::divide' })).to.not.have.property('isPure')
    expect(await compiler.compile({ operation: 'service:org.acme.Full::hello' })).to.not.have.property('isPure')
  })

  it('refuses a named argument that the declaration does not hold', async () => {
    const error = await failure(() => invoke('service:Numbers::divide', callOf({ dividend: 8, diviser: 2 })))
    expect(error).to.be.instanceOf(FunctionError).with.property('code', 'FUNCTION_ARGUMENT_INVALID')
    expect(error).to.have.property('message').that.includes('"diviser"').and.includes('dividend, divisor')
  })

  it('hands over the data of the action when there are no arguments, and lists as they are', async () => {
    expect((await invoke('service:Numbers::later', callOf(undefined, { data: { a: 1 } }))).output).to.deep.equal({ later: { a: 1 } })
    expect((await invoke('service:Numbers::squares', callOf([3, 6, 9]))).output).to.deep.equal([9, 36, 81])
  })

  it('tells the method who calls', async () => {
    const call = callOf({}, { context: { instanceId: 'i-7', headers: { pepe: 'pepa' } } })
    expect((await invoke('service:Numbers::whoCalls', call)).output).to.deep.equal(['orders', 'i-7', 'pepa'])
  })

  for (const operation of ['service:org.kie.kogito.examples.Numbers::double', 'service:java:org.kie.Numbers::double', 'service:com.acme.Outer$Numbers::double']) {
    it(`finds the class of ${operation} by the last segment of its name`, async () => {
      expect((await invoke(operation, callOf({ number: 1 }))).output).to.deep.equal({ doubled: 2 })
    })
  }

  it('finds a class registered under its full name', async () => {
    expect((await invoke('service:java:org.acme.Full::hello', callOf({}))).output).to.equal('hi')
  })

  it('answers at once when the method does', async () => {
    await using compiler = await createTestCompiler({ hostClasses })
    const invoker = await compiler.compile({ operation: 'service:Numbers::double' })
    expect(invoker.invoke(callOf({ number: 1 }))).not.to.be.instanceOf(Promise)
  })

  it('keeps the data safe from the method', async () => {
    const data = { list: [0] }
    expect(await failure(() => invoke('service:Numbers::damage', callOf(undefined, { data })))).to.be.instanceOf(TypeError)
    expect(data).to.deep.equal({ list: [0] })
  })

  it('lets through what the method throws, for onErrors to match', async () => {
    expect(await failure(() => invoke('service:Numbers::fail', callOf({})))).to.be.instanceOf(RangeError).with.property('message', 'Odd situation')
  })

  it('turns what comes back into JSON of its own', async () => {
    const kept = { when: new Date(0), gone: undefined, bytes: new Uint8Array([104, 105]), map: new Map([['a', new Set([1])]]), own: { deep: [1] } }
    numbers.next = kept
    const { output } = await invoke('service:Numbers::result', callOf({}))
    expect(output).to.deep.equal({ when: '1970-01-01T00:00:00.000Z', bytes: 'aGk=', map: { a: [1] }, own: { deep: [1] } })
    kept.own.deep.push(2)
    expect(output).to.have.nested.property('own.deep').that.deep.equals([1])
  })

  it('names what JSON cannot hold', async () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    for (const [value, text] of [[{ a: [1n] }, 'a bigint at /a/0'], [{ a: NaN }, 'the number NaN at /a'], [() => 1, 'a function'], [cycle, 'a cycle']] as const) {
      numbers.next = value
      expect(await failure(() => invoke('service:Numbers::result', callOf({})))).to.have.property('message').that.includes(text)
    }
  })

  it('merges nothing for a method without result', async () => {
    numbers.next = undefined
    expect(await invoke('service:Numbers::result', callOf({}))).to.deep.equal({ output: null })
  })

  for (const operation of ['service:Numbers', 'service:', 'service:Numbers::', 'service:::double']) {
    it(`refuses the malformed operation ${operation}`, async () => {
      expect(await failure(() => invoke(operation, callOf({})))).to.be.instanceOf(DefinitionError)
    })
  }

  for (const [operation, hint] of [
    ['service:Nombers::double', 'Numbers'],
    ['service:Numbers::doubel', 'double'],
    ['service:Numbers::constructor', 'has no method'],
    ['service:Numbers::toString', 'has no method'],
    ['service:Numbers::__proto__', 'has no method'],
    ['service:python:math::factorial', 'no host class'],
  ] as const) {
    it(`loads ${operation} with a warning and fails at the call, naming what is near`, async () => {
      await using compiler = await createTestCompiler({ hostClasses })
      const invoker = await compiler.compile({ operation })
      expect(compiler.warnings.join()).to.include(hint)
      const error = await failure(() => invoker.invoke(callOf({})))
      expect(error).to.be.instanceOf(FunctionError).with.property('code', 'FUNCTION_NOT_FOUND')
      expect(error).to.have.property('message').that.includes(hint)
    })
  }
})
