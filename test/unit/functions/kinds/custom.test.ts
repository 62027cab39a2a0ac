import { expect } from 'chai'
import { silentLogger, type Logger } from '../../../../lib/common/index.ts'
import { DefinitionError, FunctionError } from '../../../../lib/errors/index.ts'
import type { FunctionTypeHandler } from '../../../../lib/functions/index.ts'
import { callOf, createTestCompiler } from '../support.ts'

describe('functions/kinds/custom', () => {
  it('writes sysout messages as lines: text as it is, other values as JSON', async () => {
    const lines: string[] = []
    await using compiler = await createTestCompiler({ stdout: (line) => lines.push(line) })
    const invoker = await compiler.compile({ operation: 'sysout' })
    expect(invoker.needsArguments).to.equal(true)
    expect(invoker.invoke(callOf({ message: 'Model is {}' }))).to.deep.equal({ output: null })
    await invoker.invoke(callOf({ message: { a: 1 } }))
    await invoker.invoke(callOf({ other: true }))
    await invoker.invoke(callOf('only this'))
    expect(lines).to.deep.equal(['Model is {}', '{"a":1}', '{"other":true}', 'only this'])
  })

  it('writes to the log of the instance at the level of the operation', async () => {
    const written: string[] = []
    const log: Logger = { ...silentLogger, debug: (_fields, message) => written.push(`debug ${message}`), info: (_fields, message) => written.push(`info ${message}`) }
    await using compiler = await createTestCompiler()
    for (const operation of ['sysout', 'sysout:INFO', 'sysout:debug']) {
      await (await compiler.compile({ operation })).invoke(callOf({ message: operation }, { context: { log } }))
    }
    expect(written).to.deep.equal(['info sysout', 'info sysout:INFO', 'debug sysout:debug'])
  })

  it('refuses an unknown level', async () => {
    await using compiler = await createTestCompiler()
    expect(await compiler.compile({ operation: 'sysout:LOUD' }).catch((error: unknown) => error)).to.be.instanceOf(DefinitionError)
  })

  it('loads scripts and unknown types, which fail when called', async () => {
    await using compiler = await createTestCompiler()
    for (const operation of ['script', "script:python:print('x')", 'camel:direct:numberToWords', 'dmn', '__proto__:x', 'constructor']) {
      const invoker = await compiler.compile({ operation })
      expect(() => invoker.invoke(callOf({})), operation).to.throw(FunctionError).with.property('code', 'FUNCTION_NOT_FOUND')
    }
  })

  it('hands operations of host types to the host, also where a built-in type has the name', async () => {
    const functionTypes = new Map<string, FunctionTypeHandler>([
      ['rpc', (operation, call) => ({ output: { operation, given: call.arguments ?? null } })],
      ['sysout', { compile: (operation, definition) => () => ({ output: `${definition.name} ${operation}` }) }],
    ])
    await using compiler = await createTestCompiler({ functionTypes })
    expect(await (await compiler.compile({ operation: 'rpc:division' })).invoke(callOf([4, 3]))).to.deep.equal({ output: { operation: 'division', given: [4, 3] } })
    expect(await (await compiler.compile({ operation: 'rpc' })).invoke(callOf())).to.deep.equal({ output: { operation: '', given: null } })
    expect(await (await compiler.compile({ operation: 'sysout:x', name: 'g' })).invoke(callOf())).to.deep.equal({ output: 'g x' })
  })
})
