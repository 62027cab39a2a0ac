import { expect } from 'chai'
import { matchAnswer, differences, includesPart, type Answer } from '../match.ts'
import { Variables } from '../variables.ts'

function answer(body: unknown, more: Partial<Answer> = {}): Answer {
  return { status: 200, headers: { 'content-type': 'application/json' }, text: JSON.stringify(body), body, ...more }
}

function faults(expected: Record<string, unknown>, body: unknown, more: Partial<Answer> = {}, variables = new Variables('.')): readonly string[] {
  return matchAnswer(expected, answer(body, more), variables)
}

describe('conformance: expectations of an answer', () => {
  it('compares the status, and shows the body when it differs', () => {
    expect(faults({ status: 200 }, {})).to.deep.equal([])
    expect(faults({ status: 201 }, { message: 'no' })).to.deep.equal(['status is 200, expected 201', 'the body was "{\\"message\\":\\"no\\"}"'])
    expect(faults({ statusIn: [200, 201] }, {})).to.deep.equal([])
    expect(faults({ statusIn: [201, 202] }, {})).to.have.length(2)
  })

  it('compares parts of the body deeply; numbers as numbers, key order free', () => {
    expect(faults({ body: { 'a.b[1]': { y: 2, x: 1 } } }, { a: { b: [0, { x: 1.0, y: 2 }] } })).to.deep.equal([])
    expect(faults({ body: { a: { x: 1 } } }, { a: { x: 1, z: 3 } })).to.deep.equal(['a has z = 3, expected no such key'])
    expect(faults({ body: { a: [1, 2] } }, { a: [1] })).to.have.length(1)
    expect(faults({ body: { a: 1 } }, {})).to.deep.equal(['a is absent, expected 1'])
  })

  it('walks quoted keys, indexes and the whole body', () => {
    const body = { paths: { '/a.b': { get: [{ id: 7 }] } } }
    expect(faults({ body: { "paths.'/a.b'.get[0].id": 7, $: body } }, body)).to.deep.equal([])
    expect(faults({ body: { '[0].id': 1 }, size: { $: 1 } }, [{ id: 1 }])).to.deep.equal([])
  })

  it('knows texts with a meaning: not empty, $matches, $capture, variables', () => {
    const variables = new Variables('.')
    variables.set('id', 42)
    expect(faults({ body: { a: 'not empty', b: '$matches:^x+$', c: '$capture:seen', d: '${id}', e: 'no ${id}' } },
      { a: 'y', b: 'xx', c: { k: 1 }, d: 42, e: 'no 42' }, {}, variables)).to.deep.equal([])
    expect(variables.get('seen')).to.deep.equal({ k: 1 })
    for (const empty of ['', null, {}, []]) expect(faults({ body: { a: 'not empty' } }, { a: empty })).to.have.length(1)
    expect(faults({ body: { b: '$matches:^x+$' } }, { b: 'y' })).to.have.length(1)
  })

  it('tells absent, present and empty apart', () => {
    expect(faults({ absent: ['a', 'b'] }, { b: null })).to.deep.equal([])
    expect(faults({ absent: ['a'] }, { a: 0 })).to.have.length(1)
    expect(faults({ notNull: ['a'] }, { a: '' })).to.deep.equal([])
    expect(faults({ notNull: ['a', 'b'] }, { a: null })).to.have.length(2)
    expect(faults({ emptyOrNull: ['a', 'b', 'c', 'd'] }, { a: '', b: null, c: [] })).to.deep.equal([])
    expect(faults({ emptyOrNull: ['a'] }, { a: 0 })).to.have.length(1)
  })

  it('looks for texts and beginnings', () => {
    expect(faults({ contains: { a: ['b', 'c'], d: 'e' }, startsWith: { a: 'ab' } }, { a: 'abc', d: { x: 'e' } })).to.deep.equal([])
    expect(faults({ contains: { a: ['b', 'z'] } }, { a: 'abc' })).to.have.length(1)
    expect(faults({ startsWith: { a: 'b' } }, { a: 'abc' })).to.have.length(1)
    expect(faults({ contains: { a: 'undefined' } }, {})).to.have.length(1)
  })

  it('counts items, keys and characters', () => {
    expect(faults({ size: { a: 2, b: 1 }, length: { c: 3 } }, { a: [1, 2], b: { k: 1 }, c: 'a𝒳b' })).to.deep.equal([])
    expect(faults({ size: { a: 1 }, length: { a: 2 } }, { a: 'xy' })).to.have.length(1)
  })

  it('takes characters in any order, each as often as given', () => {
    expect(faults({ permutationOf: { a: 'ABC' } }, { a: 'CAB' })).to.deep.equal([])
    for (const other of ['AB', 'ABCC', 'AAB', 3]) expect(faults({ permutationOf: { a: 'ABC' } }, { a: other })).to.have.length(1)
  })

  it('compares sizes of numbers', () => {
    expect(faults({ gte: { a: 2025 } }, { a: 2025 })).to.deep.equal([])
    for (const other of [2024, '2025', null]) expect(faults({ gte: { a: 2025 } }, { a: other })).to.have.length(1)
  })

  it('finds items; an object item needs only the given keys', () => {
    const body = { tags: [{ name: 'a', description: 'x' }, 'b'] }
    expect(faults({ containsItem: { tags: 'b' }, containsItems: { tags: [{ name: 'a' }, 'b'] } }, body)).to.deep.equal([])
    expect(faults({ containsItems: { tags: [{ name: 'a', description: 'y' }] } }, body)).to.have.length(1)
    expect(faults({ containsItem: { none: 'b' } }, body)).to.have.length(1)
  })

  it('compares raw text and headers', () => {
    expect(faults({ bodyText: '{"a":1}', responseHeaders: { Location: 'not empty', 'X-A': '1' } }, { a: 1 }, { headers: { location: '/x', 'x-a': '1' } })).to.deep.equal([])
    expect(faults({ bodyText: 'x' }, {})).to.have.length(1)
    expect(faults({ responseHeaders: { Location: 'not empty' } }, {})).to.have.length(1)
  })

  it('captures, and says when there is nothing to capture', () => {
    const variables = new Variables('.')
    expect(faults({ capture: { id: '[0].id' } }, [{ id: 'x' }], {}, variables)).to.deep.equal([])
    expect(variables.resolve('/w/${id}')).to.equal('/w/x')
    expect(faults({ capture: { id: 'id' } }, {})).to.have.length(1)
  })

  it('refuses what it does not know', () => {
    expect(() => faults({ statusCode: 200 }, {})).to.throw('statusCode')
  })

  it('leaves what its caller checks to its caller', () => {
    expect(faults({ sink: {}, log: [], example: {} }, {})).to.deep.equal([])
  })
})

describe('conformance: comparison of values', () => {
  it('lets further keys pass where a part is asked for, at any depth, but not further items', () => {
    expect(includesPart({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: 1 } })).to.equal(true)
    expect(includesPart({ a: [1, 2] }, { a: [1] })).to.equal(false)
    expect(includesPart(null, { a: 1 })).to.equal(false)
  })

  it('names the place of each difference', () => {
    expect(differences({ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, new Variables('.'))).to.deep.equal(['a [0] b is 1, expected 2'])
  })
})
