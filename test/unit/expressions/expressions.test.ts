import { expect } from 'chai'
import { DefinitionError, ExpressionError } from '../../../lib/errors/index.ts'
import type { Json } from '../../../lib/common/index.ts'
import { createBindings, createExpressions, formatExpressionError, type ExpressionLanguageName, type FallbackFacts } from '../../../lib/expressions/index.ts'
import { make, run, SITE } from './support.ts'

const NOTHING = createBindings({})

function template(value: Json, input: Json, options: Parameters<typeof make>[0] = {}): Json {
  return make(options).compileTemplate(value, SITE).evaluate(input, NOTHING) as Json
}

function errorOf(act: () => unknown): ExpressionError {
  try {
    act()
  } catch (error) {
    if (error instanceof ExpressionError) return error
    throw error
  }
  throw new Error('no error')
}

describe('texts and wrappers', () => {
  it('takes the outermost wrapper off', () => {
    expect(run('${ .a }', { a: 1 })).to.equal(1)
    expect(run('  {{ .a }} ', { a: 1 })).to.equal(1)
    expect(run('${{name : .name}}', { name: 'x' })).to.deep.equal({ name: 'x' })
    expect(run('${ "}" + .a + "\\("}")" }', { a: '{' })).to.equal('}{}')
  })

  it('accepts a missing closing brace in profile sonataflow only', () => {
    expect(run('${ .a', { a: 1 }, {}, { profile: 'sonataflow' })).to.equal(1)
    expect(errorOf(() => run('${ .a')).message).to.include('not closed')
  })

  it('puts values into texts in profile spec', () => {
    const text = 'Book ${ .title } is on loan, ${ .n } ${ .none }.'
    expect(template(text, { title: 'X', n: 2 })).to.equal('Book X is on loan, 2 .')
    expect(template(text, { title: 'X', n: 2 }, { profile: 'sonataflow' })).to.equal(text)
  })

  it('reads a text without quotes as the inside of one where it holds \\( )', () => {
    expect(run('Model is \\(.a)', { a: 1 }, {}, { profile: 'sonataflow' })).to.equal('Model is 1')
  })

  it('follows references to expression functions', () => {
    const functions = new Map([['is.adult-ok', '${ fn:other }'], ['other', '.age > 17']])
    expect(run('fn:is.adult-ok', { age: 18 }, {}, { functions })).to.equal(true)
    expect(run('"fn:other"', {}, {}, { functions })).to.equal('fn:other')
    const error = errorOf(() => run('fn:bad', {}, {}, { functions: new Map([['bad', '${ 1 + }']]) }))
    expect(error.details).to.include({ function: 'bad', column: 7 })
  })

  it('takes blank texts for the identity in filters and refuses them as conditions', () => {
    expect(run('  ', { a: 1 })).to.deep.equal({ a: 1 })
    expect(() => make().compileCondition(' ', SITE)).to.throw(DefinitionError)
  })
})

describe('arguments', () => {
  const input = { a: 1, b: { c: 'x' } }
  const rows: readonly [string, Json, Json][] = [
    // text, spec, sonataflow
    ['.a', 1, 1], ['.b.c', 'x', 'x'], ['${ .a }', 1, 1], ['', '', ''], ['Bearer token', 'Bearer token', 'Bearer token'],
    ['https://example.org/x', 'https://example.org/x', 'https://example.org/x'], ['.NET is fine', '.NET is fine', '.NET is fine'],
    ['{a: .a}', '{a: .a}', { a: 1 }], ['"x" + .b.c', '"x" + .b.c', 'xx'], ['keys', 'keys', ['a', 'b']],
    ['42', '42', '42'], ['1.0', '1.0', '1.0'], ['2024-01-01', '2024-01-01', '2024-01-01'], ['pepa.1', 'pepa.1', 'pepa.1'],
  ]
  for (const [text, spec, sonataflow] of rows) {
    it(JSON.stringify(text), () => {
      expect(template(text, input), 'spec').to.deep.equal(spec)
      expect(template(text, input, { profile: 'sonataflow' }), 'sonataflow').to.deep.equal(sonataflow)
    })
  }

  it('are walked at any depth', () => {
    expect(template({ list: ['.a', { deep: '${ .b }' }], plain: 3 }, input)).to.deep.equal({ list: [1, { deep: { c: 'x' } }], plain: 3 })
  })

  it('without any expression are one frozen value', () => {
    const compiled = make().compileTemplate({ a: ['x'] }, SITE)
    const first = compiled.evaluate({}, NOTHING) as { readonly a: Json }
    expect(compiled.evaluate({}, NOTHING)).to.equal(first)
    expect(Object.isFrozen(first)).to.equal(true)
    expect(Object.isFrozen(first.a)).to.equal(true)
  })

  it('fall back to the text where only SonataFlow takes it for an expression, and say so', () => {
    const facts: FallbackFacts[] = []
    const onFallback = (fact: FallbackFacts): void => { facts.push(fact) }
    expect(template('"x" + .a', input, { profile: 'sonataflow', onFallback })).to.equal('"x" + .a')
    expect(facts).to.have.length(1)
    expect(() => template('.a.b', input, { profile: 'sonataflow' })).to.throw(ExpressionError)
    expect(() => template('${ .a.b }', input, { profile: 'sonataflow' })).to.throw(ExpressionError)
    expect(template('${ .a.b }', input, { profile: 'sonataflow', lenient: true, onFallback })).to.equal('${ .a.b }')
    expect(template('${ a b }', input, { profile: 'sonataflow', lenient: true, onFallback })).to.equal('${ a b }')
    expect(facts).to.have.length(3)
    expect(() => template('${ a b }', input, { profile: 'sonataflow' })).to.throw(ExpressionError)
  })
})

describe('outputs', () => {
  it('of filters: null for none, an array of many', () => {
    expect(run('empty')).to.equal(null)
    expect(run('.[]', [1, 2])).to.deep.equal([1, 2])
    expect(run('nan')).to.equal(null)
    expect(run('-infinite')).to.equal(-Number.MAX_VALUE)
  })

  it('of conditions follow the profile', () => {
    const condition = (text: string, input: Json, profile: 'spec' | 'sonataflow' = 'spec'): unknown => make({ profile }).compileCondition(text, SITE).evaluate(input, NOTHING)
    expect(condition('.a', {})).to.equal(false)
    expect(condition('empty', {})).to.equal(false)
    expect(condition('.[]', [true, false])).to.equal(true)
    expect(() => condition('.a', { a: 1 })).to.throw(ExpressionError, 'a number')
    expect(condition('.a', { a: 1 }, 'sonataflow')).to.equal(true)
  })

  it('of lists are flat', () => {
    const list = (text: string, input: Json): unknown => make().compileList(text, SITE).evaluate(input, NOTHING)
    expect(list('.a', { a: [1, 2] })).to.deep.equal([1, 2])
    expect(list('.a', { a: 1 })).to.deep.equal([1])
    expect(list('.a, .b', { a: [1, [2]], b: 3 })).to.deep.equal([1, [2], 3])
    expect(list('empty', {})).to.deep.equal([])
    expect(() => list('.none', {})).to.throw(ExpressionError)
  })

  it('of texts are joined by blanks', () => {
    const text = (value: string, input: Json): unknown => make({ profile: 'sonataflow' }).compileText(value, SITE).evaluate(input, NOTHING)
    expect(text('.a, .b, .c', { a: 'x', b: { y: 1 }, c: null })).to.equal('x {"y":1} ')
    expect(text('Hello there', {})).to.equal('Hello there')
  })
})

describe('targets', () => {
  const target = (text: string): ReturnType<ReturnType<typeof make>['compileTarget']> => make().compileTarget(text, SITE)

  it('make missing parents and keep the rest', () => {
    const document = { a: { keep: 1 } }
    expect(target('${ .a.b.c }').merge(document, 5)).to.deep.equal({ a: { keep: 1, b: { c: 5 } } })
    expect(document).to.deep.equal({ a: { keep: 1 } })
    expect(target('.list[1]').put({}, 'x')).to.deep.equal({ list: [null, 'x'] })
    expect(target('.a.keep').read(document)).to.equal(1)
    expect(target('.a.none').read(document)).to.equal(undefined)
  })

  it('that are the whole merge into the data', () => {
    expect(target('').merge({ a: 1 }, { b: 2 })).to.deep.equal({ a: 1, b: 2 })
    expect(target('${ . }').put({ a: 1 }, 2)).to.equal(2)
  })

  it('that are no plain path stand for their last name at the root', () => {
    expect(target('.rows[] | .n').merge({ rows: [{ n: 1 }] }, 2)).to.deep.equal({ rows: [{ n: 1 }], n: 2 })
  })

  it('inside a list by name are refused', () => {
    expect(() => target('.a.b').put({ a: [] }, 1)).to.throw(ExpressionError)
  })
})

describe('variables', () => {
  it('are read key by key, once, and only when used', () => {
    const read: string[] = []
    const workflow = Object.fromEntries(['id', 'input'].map((key) => [key, () => {
      read.push(key)
      return key
    }]))
    expect(run('$WORKFLOW.id', {}, { workflow })).to.equal('id')
    expect(read).to.deep.equal(['id'])
    expect(run('$WORKFLOW', {}, { workflow })).to.deep.equal({ id: 'id', input: 'input' })
    expect(() => run('$WORKFLOW.none', {}, { workflow })).to.throw(ExpressionError, 'known: id, input')
  })

  it('are known at load when their names are given', () => {
    const error = errorOf(() => make({ variables: ['item'] }).compileFilter('$itme', SITE))
    expect(error.details['hint']).to.include('$item')
    expect(run('$item + 1', {}, { variables: { item: 2 } }, { variables: ['item'] })).to.equal(3)
  })

  it('are recorded', () => {
    const expressions = make()
    expressions.compileFilter('$SECRET.a.b + $item + ($x | . as $y | $y)', SITE)
    expect([...expressions.reads.secrets]).to.deep.equal(['a.b'])
    expect([...expressions.reads.variables]).to.deep.equal(['SECRET', 'item', 'x'])
  })

  it('$SECRETS reads declared names only', () => {
    const bindings = { secrets: { read: (key: string) => `value of ${key}` }, declaredSecrets: ['a.b'] }
    expect(run('$SECRETS.a.b, $SECRETS.a_b', {}, bindings)).to.deep.equal(['value of a.b', 'value of a_b'])
    expect(() => run('$SECRETS.other', {}, bindings)).to.throw(ExpressionError, 'not declared')
    expect(run('$SECRET.other', {}, bindings)).to.equal('value of other')
  })

  it('computed keys of secrets need a setting', () => {
    const bindings = { secrets: { read: (key: string) => key } }
    expect(() => run('$SECRET[.k]', { k: 'x' }, bindings)).to.throw(ExpressionError)
    expect(run('$SECRET[.k]', { k: 'x' }, bindings, { dynamicSecrets: true })).to.equal('x')
  })
})

describe('errors of expressions', () => {
  it('name file, workflow, pointer, line, column and a hint', () => {
    const error = errorOf(() => make({ workflow: 'currency', file: 'workflows/currency.sw.json' }).compileCondition('${ .executionStatus = = "ERROR" }', SITE))
    expect(error.code).to.equal('EXPRESSION_SYNTAX')
    expect(error.details).to.include({ workflow: 'currency', file: 'workflows/currency.sw.json', pointer: SITE.pointer, fileLine: 12, line: 1, column: 23 })
    expect(formatExpressionError(error)).to.equal([
      'EXPRESSION_SYNTAX currency · /states/0/actions/0 (workflows/currency.sw.json:12)',
      '  ${ .executionStatus = = "ERROR" }',
      '                        ^ line 1, column 23: unexpected "="; for equality write ==',
    ].join('\n'))
  })

  const hints: Readonly<Record<string, string>> = {
    '.a && .b': 'and', '.a || .b': 'or', '\'x\'': 'double quotes', 'lenght': 'length', '.steps.flip-coin': 'quotes', 'it was heads': 'quotes', '.a = = 1': '==', '$SECRET': '$SECRET.name', '{1: 2}': '"1"', 'break $x': 'label',
  }
  for (const [text, hint] of Object.entries(hints)) {
    it(`give a hint for ${text}`, () => {
      expect(errorOf(() => make({ variables: [] }).compileFilter(text, SITE)).details['hint']).to.include(hint)
    })
  }

  it('carry jq\'s own text when a program fails', () => {
    const error = errorOf(() => run('.a.b + 1', { a: [] }))
    expect(error).to.include({ code: 'EXPRESSION_FAILED', message: 'Cannot index array with string ("b")' })
    expect(error.details['column']).to.equal(3)
  })

  it('refuse unknown languages', () => {
    expect(() => make({ language: 'xpath' as ExpressionLanguageName })).to.throw(DefinitionError, /"jq", "jsonata" or "jsonpath"/)
  })

  it('take the time of the clock', () => {
    expect(run('now')).to.equal(1_700_000_000)
    expect(createExpressions).to.be.a('function')
  })
})
