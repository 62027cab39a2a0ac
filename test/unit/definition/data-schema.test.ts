import { expect } from 'chai'
import { compileDataSchema } from '../../../lib/definition/index.ts'
import { DefinitionError } from '../../../lib/errors/index.ts'

const check = (schema: object) => compileDataSchema({ schema: schema as Record<string, never>, failOnValidationErrors: true })

describe('definition/data-schema', () => {
  it('lists every violation with pointer and reason', () => {
    const violations = check({
      type: 'object', required: ['name'], properties: { age: { type: 'integer', minimum: 18 }, kind: { enum: ['a', 'b'] } }, additionalProperties: false,
    })({ age: 1.5, kind: 'c', more: 1 })
    expect(violations).to.deep.equal([
      { pointer: '', message: "must have required property 'name'" },
      { pointer: '', message: 'must NOT have additional properties: more' },
      { pointer: '/age', message: 'must be integer' },
      { pointer: '/age', message: 'must be >= 18' },
      { pointer: '/kind', message: 'must be equal to one of the allowed values: ["a","b"]' },
    ])
  })

  it('lists no more than asked for', () => {
    const schema = { type: 'array', items: { type: 'string' } }
    const many = Array.from({ length: 1000 }, () => 1)
    expect(check(schema)(many)).to.have.length(50)
    expect(compileDataSchema({ schema, failOnValidationErrors: true }, { limit: 3 })(many)).to.have.length(3)
  })

  const DRAFTS: readonly (readonly [string | undefined, object, unknown, unknown])[] = [
    ['http://json-schema.org/draft-04/schema#', { minimum: 1, exclusiveMinimum: true }, 2, 1],
    ['http://json-schema.org/draft-06/schema#', { exclusiveMinimum: 1 }, 2, 1],
    ['http://json-schema.org/draft-07/schema#', { if: { const: 1 }, then: false }, 2, 1],
    ['https://json-schema.org/draft/2019-09/schema', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'string' }] }, ['a'], [1]],
    [undefined, { items: [{ type: 'string' }], additionalItems: false }, ['a'], ['a', 'b']],
  ]
  for (const [draft, schema, fits, fails] of DRAFTS) {
    it(`follows ${draft ?? 'draft 07 without $schema'}`, () => {
      const validate = check(draft === undefined ? schema : { $schema: draft, ...schema })
      expect(validate(fits as never)).to.deep.equal([])
      expect(validate(fails as never)).to.have.length.at.least(1)
    })
  }

  it('knows formats, ignores unknown keywords', () => {
    expect(check({ format: 'date', 'x-note': 1 })('2022-13-01')).to.have.length(1)
    expect(check({ type: 'string', format: 'own' })('x')).to.deep.equal([])
  })

  it('keeps schemas of one $id apart', () => {
    const first = check({ $id: 'http://localhost/same.json', type: 'string' })
    const second = check({ $id: 'http://localhost/same.json', type: 'number' })
    expect([first('x'), second(1)]).to.deep.equal([[], []])
    expect(() => check({ $ref: 'http://localhost/same.json' })).to.throw(DefinitionError)
  })

  it('takes boolean schemas', () => {
    expect(compileDataSchema({ schema: true, failOnValidationErrors: true })({})).to.deep.equal([])
    expect(compileDataSchema({ schema: false, failOnValidationErrors: true })({})).to.have.length(1)
  })

  it('refuses other drafts, wrong schemas, and references to nothing', () => {
    expect(() => check({ $schema: 'http://example.com/schema' })).to.throw(DefinitionError, '2020-12').with.property('code', 'DEFINITION_UNSUPPORTED')
    expect(() => check({ type: 'objekt' })).to.throw(DefinitionError, 'no valid JSON Schema')
    expect(() => check({ $ref: '#/definitions/none' })).to.throw(DefinitionError, 'no valid JSON Schema')
    expect(() => check({ $ref: 'http://localhost/x.json' })).to.throw(DefinitionError, 'no valid JSON Schema')
  })
})
