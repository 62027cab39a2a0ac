import { expect } from 'chai'
import fc from 'fast-check'
import { RequestError } from '../../../lib/errors/index.ts'
import { compileSchema } from '../../../lib/function-runtime/compiled-schema.ts'
import { readQuery } from '../../../lib/function-runtime/query.ts'

const Person = { type: 'object', properties: { first: { type: 'string' }, age: { type: 'integer' } } } as const
const schema = compileSchema({
  type: 'object',
  properties: {
    count: { type: 'integer' },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    name: { type: 'string' },
    maybe: { type: ['null', 'integer'] },
    nested: { type: 'object', properties: { inner: { $ref: '#/$defs/Inner' } } },
    tags: { type: 'array', items: { type: 'string' } },
    numbers: { type: 'array', items: { type: 'integer' }, uniqueItems: true },
    kids: { type: 'array', items: Person },
    texts: { type: 'object' },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
    people: { type: 'object', additionalProperties: Person },
    constructor: { type: 'string' },
  },
  $defs: { Inner: { type: 'object', properties: { leaf: { type: 'string' } } } },
}, false)
const read = (query: string): Record<string, unknown> => readQuery(query, schema)
const refusal = (query: string): string => {
  try {
    return `accepted: ${JSON.stringify(read(query))}`
  } catch (error) {
    expect(error).to.be.instanceOf(RequestError)
    return (error as Error).message
  }
}

describe('the query as an object', () => {
  it('1: ignores unknown names, leading dots and suffixes of scalars, and decodes + and escapes', () => {
    expect(read('nosuch=1&.count=5&count.x=1&Count=3&name=a+b%2Bc')).to.deep.equal({ name: 'a b+c' })
    expect(refusal('name=%')).to.equal('The query parameter "name" holds a broken percent escape')
    expect(refusal('name=%FF')).to.include('broken percent escape')
  })

  it('2: nests by dots, creates objects that are named alone, and lets the last of a repeated scalar win', () => {
    expect(read('nested.inner.leaf=v&count=1&count=2')).to.deep.equal({ nested: { inner: { leaf: 'v' } }, count: 2 })
    expect(read('nested=5')).to.deep.equal({ nested: {} })
  })

  it('3: makes lists of repeated names, sets where items are unique, whatever the suffix', () => {
    expect(read('tags=a&tags=b&tags=a&tags.x=c&numbers=1&numbers=2&numbers=1')).to.deep.equal({ tags: ['a', 'b', 'a', 'c'], numbers: [1, 2] })
  })

  it('4: finds elements of lists of objects by id, in order of first appearance', () => {
    expect(read('kids.9.first=a&kids.1.first=b&kids.9.age=3&kids.x=1')).to.deep.equal({ kids: [{ first: 'a', age: 3 }, { first: 'b' }, {}] })
  })

  it('5: fills maps of texts, scalars and objects', () => {
    expect(read('texts.a=1&counts.a=1&people.bill.age=5&people.amy=1')).to.deep.equal({
      texts: { a: '1' }, counts: { a: 1 }, people: { bill: { age: 5 }, amy: {} },
    })
  })

  it('5: refuses names of prototypes unless they are declared', () => {
    for (const name of ['__proto__.x', 'texts.__proto__', 'texts.constructor', 'people.prototype.age', 'kids.__proto__.age', 'nested.__proto__.x']) {
      expect(refusal(`${name}=1`), name).to.include('is a name that is never read')
    }
    expect(read('constructor=x')).to.have.own.property('constructor', 'x')
    expect(({} as Record<string, unknown>)['x']).to.equal(undefined)
  })

  it('6: reads integers of decimal digits only', () => {
    expect(['5', '-5', '+5', '007', '9007199254740991'].map((text) => read(`count=${encodeURIComponent(text)}`)['count']))
      .to.deep.equal([5, -5, 5, 7, 9007199254740991])
    for (const text of ['1e3', '0x10', '', ' 4', '1.0', '9007199254740993', 'five', '1_000']) {
      expect(refusal(`count=${encodeURIComponent(text)}`), text).to.include('"count" is not an integer')
    }
  })

  it('6: reads numbers in decimal and exponent form, with one suffix, and no NaN or infinities', () => {
    expect(['1', '-1.5', '.5', '1.', '1e3', '1E-2', '2.5f', '2.5D'].map((text) => read(`ratio=${text}`)['ratio']))
      .to.deep.equal([1, -1.5, 0.5, 1, 1000, 0.01, 2.5, 2.5])
    for (const text of ['NaN', 'Infinity', '-Infinity', '1e999', '0x1', '1ff', '', '.']) expect(refusal(`ratio=${text}`), text).to.include('"ratio" is not a finite number')
  })

  it('6: reads true in any case, and anything else as false', () => {
    expect(['true', 'TRUE', 'True', '1', 'yes', 'false', ''].map((text) => read(`on=${text}`)['on'])).to.deep.equal([true, true, true, false, false, false, false])
  })

  it('6: reads what may be null by its other type', () => {
    expect(read('maybe=3')).to.deep.equal({ maybe: 3 })
  })

  it('7: has at most 1000 parameters and 20 levels', () => {
    expect(read(Array.from({ length: 1000 }, () => 'tags=x').join('&'))['tags']).to.have.length(1000)
    expect(refusal(Array.from({ length: 1001 }, () => 'tags=x').join('&'))).to.include('more than 1000 parameters')
    expect(refusal(`${'a.'.repeat(20)}b=1`)).to.include('deeper than 20')
  })

  it('matches names without case when asked to', () => {
    expect(readQuery('COUNT=1&Nested.Inner.LEAF=v', schema, true)).to.deep.equal({ count: 1, nested: { inner: { leaf: 'v' } } })
  })

  it('gives an object or a RequestError for any text, and never touches a prototype', () => {
    const name = fc.array(fc.constantFrom('count', 'kids', 'texts', 'nested', '__proto__', 'x', '', '1'), { minLength: 1, maxLength: 5 })
    const parameter = fc.tuple(name, fc.string()).map(([parts, value]) => `${parts.join('.')}=${value}`)
    fc.assert(fc.property(fc.array(parameter), (parameters) => {
      try {
        expect(read(parameters.join('&'))).to.be.an('object')
      } catch (error) {
        expect(error).to.be.instanceOf(RequestError)
      }
      expect(Object.keys(Object.prototype)).to.deep.equal([])
    }))
  })
})
