import { expect } from 'chai'
import { ExpressionError } from '../../../lib/errors/index.ts'
import type { Json } from '../../../lib/common/index.ts'
import { createBindings, type BindingsOptions } from '../../../lib/expressions/index.ts'
import { make, SITE } from './support.ts'

const VARIABLES: BindingsOptions = {
  workflow: { id: () => 'w1' }, secrets: { read: (key) => key === 'a.b' ? 's3cret' : undefined }, constants: { c: 1 }, variables: { item: 5 },
}

describe('JSONata', () => {
  const expressions = make({ language: 'jsonata' })
  const run = async (text: string, input: Json = {}): Promise<Json> => expressions.compileFilter(text, SITE).evaluate(input, createBindings(VARIABLES))

  it('evaluates with variables, on frozen data', async () => {
    expect(expressions.sync).to.equal(false)
    expect(await run('${ items[v > 1].id }', Object.freeze({ items: Object.freeze([{ v: 1, id: 1 }, { v: 2, id: 2 }, { v: 3, id: 3 }]) }))).to.deep.equal([2, 3])
    expect(await run('$WORKFLOW.id & $SECRET.a.b & $CONST.c & $item')).to.equal('w1s3cret15')
    expect(await run('nothing')).to.equal(null)
  })

  it('takes time from the clock', async () => {
    expect(await run('$millis()')).to.equal(1_700_000_000_000)
    expect(await run('$now()')).to.equal('2023-11-14T22:13:20.000Z')
    expect(await run('$now("[Y]")')).to.equal('2023')
  })

  it('fills templates and texts', async () => {
    expect(await expressions.compileTemplate({ a: '${ x }', b: 'plain', c: 'is ${ x }!' }, SITE).evaluate({ x: 1 }, createBindings({}))).to.deep.equal({ a: 1, b: 'plain', c: 'is 1!' })
    expect(await expressions.compileCondition('x > 0', SITE).evaluate({ x: 1 }, createBindings({}))).to.equal(true)
    expect(expressions.compileTarget('a.b', SITE).put({}, 1)).to.deep.equal({ a: { b: 1 } })
  })

  it('serves many evaluations of one expression at once', async () => {
    const compiled = expressions.compileFilter('$item * 2', SITE)
    const results = await Promise.all(Array.from({ length: 50 }, async (_, item) => compiled.evaluate({}, createBindings({ variables: { item } }))))
    expect(results).to.deep.equal(Array.from({ length: 50 }, (_, item) => item * 2))
  })

  it('refuses to pass secrets on, names faults and unknown members', async () => {
    expect(() => expressions.compileFilter('$SECRET', SITE)).to.throw(ExpressionError)
    expect(() => expressions.compileFilter('$SECRET.*', SITE)).to.throw(ExpressionError)
    expect(() => expressions.compileFilter('a + ', SITE)).to.throw(ExpressionError).with.property('code', 'EXPRESSION_SYNTAX')
    const failure: unknown = await run('$WORKFLOW.none').catch((error: unknown) => error)
    expect(failure).to.have.property('message').that.includes('known: id')
  })
})

describe('JSONata over large lists', () => {
  const numbers = Array.from({ length: 1_200_000 }, (_, index) => index % 1000)
  for (const [text, result] of [['$max($)', 999], ['$min($)', 0], ['$sum($)', 599_400_000], ['$average($)', 499.5], ['$count($)', 1_200_000]] as const) {
    it(`gives a result for ${text}`, async () => {
      expect(await make({ language: 'jsonata' }).compileFilter(text, SITE).evaluate(numbers, createBindings({}))).to.equal(result)
    })
  }

  it('tells which limit a list goes over, in one sentence', async () => {
    const error = await Promise.resolve(make({ language: 'jsonata' }).compileFilter('$append($, $)', SITE).evaluate(numbers, createBindings({}))).then(() => undefined, (caught: unknown) => caught as Error)
    expect(error?.message).to.include('max-cells: The maximum sequence length of 2400000 was exceeded, at line 1')
  })

  it('takes the largest and the smallest of few and of none', async () => {
    const evaluate = (text: string): unknown => make({ language: 'jsonata' }).compileFilter(text, SITE).evaluate({}, createBindings({}))
    for (const [text, result] of [['$max([3, 1, 2])', 3], ['$min([3, 1, 2])', 1], ['$max([])', null], ['$min(nothing)', null], ['$max(7)', 7], ['$map([[1, 2], [4, 3]], $max)', [2, 4]]] as const) {
      expect(await evaluate(text), text).to.deep.equal(result)
    }
  })
})

describe('JSONPath', () => {
  const expressions = make({ language: 'jsonpath', profile: 'sonataflow' })
  const input = { language: 'English', age: 20, people: [{ age: 1 }, { age: 30 }], a: { 'x-y': 2 }, s: 'str', n: 12 }
  const run = (text: string): unknown => expressions.compileFilter(text, SITE).evaluate(input, createBindings(VARIABLES))

  it('selects', () => {
    expect(run('$.a.x-y')).to.equal(2)
    expect(run('{{ $.people[?(@.age  >= 18)] }}')).to.deep.equal([{ age: 30 }])
    expect(run('$.people.[?(@.age < 18)].age')).to.deep.equal([1])
    expect(run('$.s$.n')).to.equal('str12')
    expect(run('$.s is $.n')).to.equal('str is 12')
    expect(run('$WORKFLOW.id')).to.equal('w1')
    expect(run('$SECRET["a.b"]')).to.equal('s3cret')
    expect(run('$SECRET.none')).to.equal('')
  })

  it('tests the root object itself in conditions', () => {
    const holds = (text: string): unknown => expressions.compileCondition(text, SITE).evaluate(input, createBindings({}))
    expect(holds('{{ $.[?(@.language  == \'English\')] }}')).to.equal(true)
    expect(holds('{{ $.[?(@.language  == \'Spanish\')] }}')).to.equal(false)
    expect(holds('{{ $.[?((@.age  >= 0) && (@.age  < 18))] }}')).to.equal(false)
  })

  it('fails where a plain path leads nowhere', () => {
    expect(() => run('$.none.more')).to.throw(ExpressionError, 'no results')
  })

  it('matches patterns in linear time', () => {
    const data = { list: [{ text: `${'a'.repeat(2000)}!` }] }
    expect(expressions.compileFilter('$.list[?match(@.text, "(a+)+")]', SITE).evaluate(data, createBindings({}))).to.deep.equal([])
  })

  const refused: Readonly<Record<string, RegExp>> = {
    '$-': /unexpected/, '$.a =~ /x/': /unexpected/, '$.list[?(@.a =~ /x/)]': /=~/, '$.list.length()': /length/, '$.list[(@.length-1)]': /script/, '$SECRET': /key/, 'plain': /starts with/, '$.a[': /not closed/,
  }
  for (const [text, reason] of Object.entries(refused)) {
    it(`refuses ${text}`, () => {
      expect(() => expressions.compileFilter(text, SITE)).to.throw(ExpressionError).with.property('message').that.matches(reason)
    })
  }
})
