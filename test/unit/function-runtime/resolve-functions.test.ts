import { expect } from 'chai'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { bytes, cloudEvent, defineFunction, json, nothing, serve, text, type FunctionOptions, type FunctionRuntimeOptions } from '../../../lib/function-runtime/index.ts'

function faults(sources: Parameters<typeof serve>[0], options: FunctionRuntimeOptions = {}): readonly string[] {
  try {
    serve(sources, options)
    return []
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigurationError)
    return (error as ConfigurationError).details['faults'] as string[]
  }
}

const simple = (options: Partial<FunctionOptions>): object =>
  defineFunction({ name: 'f', input: nothing, output: nothing, ...options }, () => undefined)

describe('the start of functions', () => {
  it('refuses a name that is used twice', () => {
    expect(faults([simple({}), simple({})])).to.include('function f: the name is used twice; give one of them another name')
  })

  it('refuses names that are no path segment or reserved', () => {
    for (const name of ['a/b', 'a?b', '.', '..', 'a#b', 'a\nb']) expect(faults({ [name]: simple({ name }) }).join(), name).to.include('no path segment')
    for (const name of ['health', 'metrics', 'q']) expect(faults([simple({ name })]).join(), name).to.include('reserved')
  })

  it('refuses a function without a name, and takes the name of an export or a handler', () => {
    const unnamed = defineFunction({ input: nothing, output: nothing }, () => undefined)
    function handlerName(): undefined { return undefined }
    expect(faults({ exported: unnamed })).to.deep.equal([])
    expect(faults([defineFunction({ input: nothing, output: nothing }, handlerName)])).to.deep.equal([])
    // Exports may name it yet, so this shows at the start only.
    return serve([unnamed]).start().then(() => expect.fail('started'), (error: unknown) => {
      expect((error as Error).message).to.include('serve({ greet })')
    })
  })

  it('refuses wrappers and bytes inside of descriptors and schemas', () => {
    expect(faults([simple({ input: cloudEvent(cloudEvent(text) as never) })]).join()).to.include('cloudEvent holds json(schema), text, bytes or nothing')
    expect(faults([simple({ output: json({ type: 'array', items: bytes }) })]).join()).to.include('output: the schema at /items is the descriptor bytes')
    expect(faults([simple({ input: cloudEvent(bytes) })])).to.deep.equal([])
  })

  it('refuses schemas of other keywords, and those that cannot be compiled', () => {
    expect(faults([simple({ input: json({ oneOf: [] }) })]).join()).to.include('input: the schema uses oneOf')
    expect(faults([simple({ input: json({ type: 'strin' }) })]).join()).to.include('input: the schema cannot be compiled')
    expect(faults([simple({ input: json({ type: 'string', format: 'unheard-of' }) })]).join()).to.include('cannot be compiled')
    expect(faults([simple({ input: json({ $ref: '#/$defs/Absent' }) })]).join()).to.include('cannot be compiled')
  })

  it('accepts two functions with one $id in their schemas', () => {
    const schema = { $id: 'Person', type: 'object' } as const
    expect(faults([simple({ input: json(schema) }), simple({ name: 'g', input: json({ ...schema }) })])).to.deep.equal([])
  })

  it('refuses export and mapping that name no function', () => {
    expect(faults([simple({})], { export: 'absent', mapping: { gone: { trigger: 'x' } } })).to.deep.equal([
      'export names absent, which is no function', 'mapping names gone, which is no function',
    ])
  })

  it('refuses functions of one trigger whose attributes are equal, contained or empty', () => {
    const pair = (one: Record<string, string>, other: Record<string, string>): string => faults([
      simple({ name: 'one', trigger: 't', attributes: one }), simple({ name: 'other', trigger: 't', attributes: other }),
    ]).join()
    const refusal = 'functions one and other take the same events (trigger t); give them attributes that differ'
    expect(pair({}, {})).to.equal(refusal)
    expect(pair({ source: 'a' }, {})).to.equal(refusal)
    expect(pair({ source: 'a' }, { Source: 'a' })).to.equal(refusal)
    expect(pair({ source: 'a', x: '1' }, { source: 'a' })).to.equal(refusal)
    expect(pair({ source: 'a' }, { source: 'b' })).to.equal('')
    expect(pair({ source: 'a', x: '1' }, { source: 'a', y: '1' })).to.equal('')
    expect(faults([simple({ name: 'one' }), simple({ name: 'other' })], { mapping: { one: { trigger: 'other' } } }).join()).to.include('trigger other')
  })

  it('refuses more than one parameter besides the context', () => {
    const three = ((_a: unknown, _b: unknown, _c: unknown) => undefined) as never
    expect(faults([defineFunction({ name: 'f', input: nothing, output: nothing }, three)]).join()).to.include('it has 3 parameters')
  })

  it('refuses a missing input, output or handler, as plain JavaScript may have', () => {
    expect(faults([defineFunction({ name: 'f' } as never, undefined as never)])).to.deep.equal([
      'function f: it has no handler',
      'function f: input is missing; say nothing when there is none',
      'function f: output is missing; say nothing when there is none',
    ])
    expect(faults([simple({ input: { type: 'string' } as never })]).join()).to.include('input is no descriptor')
  })

  it('refuses what is no function at all', () => {
    expect(faults([{}]).join()).to.include('an entry is neither made by defineFunction nor an instance')
    expect(faults({ thing: new Date() }).join()).to.include('export thing is neither')
  })

  it('reports everything together', () => {
    expect(faults([simple({ name: 'q' }), simple({ input: json({ anyOf: [] }) })], { export: 'absent' })).to.have.length(3)
  })
})
