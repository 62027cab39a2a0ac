import { expect } from 'chai'
import fc from 'fast-check'
import type { JsonObject } from '../../../../lib/common/index.ts'
import { SchemaNames, toDialect } from '../../../../lib/server/openapi/schemas.ts'

describe('server/openapi/schemas', () => {
  const rows: [title: string, schema: JsonObject, expected: object][] = [
    ['drops what names another dialect', { $schema: 'http://json-schema.org/draft-04/schema#', id: 'x', type: 'object' }, { type: 'object' }],
    ['turns draft-04 flags into limits', { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false }, { exclusiveMinimum: 1, maximum: 2 }],
    ['keeps present limits', { exclusiveMinimum: 1, minimum: 0 }, { exclusiveMinimum: 1, minimum: 0 }],
    ['renames definitions and what refers to them', { definitions: { a: { $ref: '#/definitions/b' }, b: true }, $ref: '#/definitions/a' }, { $defs: { a: { $ref: '#/base/$defs/b' }, b: true }, $ref: '#/base/$defs/a' }],
    ['turns references to the whole', { properties: { self: { $ref: '#' } } }, { properties: { self: { $ref: '#/base' } } }],
    ['keeps references to elsewhere', { $ref: 'https://example.org/x.json#/y' }, { $ref: 'https://example.org/x.json#/y' }],
    ['turns tuples', { items: [{ type: 'string' }, {}], additionalItems: false }, { prefixItems: [{ type: 'string' }, {}], items: false }],
    ['splits dependencies', { dependencies: { a: ['b'], c: { minimum: 1, exclusiveMinimum: true } } }, { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { exclusiveMinimum: 1 } } }],
    ['leaves properties alone that are called like keywords', { properties: { id: { type: 'string' }, definitions: { id: 'x' } } }, { properties: { id: { type: 'string' }, definitions: {} } }],
    ['leaves values alone that look like schemas', { enum: [{ id: 1 }], default: { $schema: 'x' } }, { enum: [{ id: 1 }], default: { $schema: 'x' } }],
  ]
  for (const [title, schema, expected] of rows) it(title, () => { expect(toDialect(schema, '#/base')).to.deep.equal(expected) })

  it('changes nothing of a schema that is written in 2020-12 without references', () => {
    fc.assert(fc.property(fc.record({ type: fc.constantFrom('object', 'string'), title: fc.string(), minLength: fc.nat(), properties: fc.dictionary(fc.string(), fc.constant({ type: 'string' })) }), (schema) => {
      expect(toDialect(schema, '#/x')).to.deep.equal(schema)
    }))
  })

  it('names schemas by title, equal ones once, different ones apart', () => {
    const names = new SchemaNames()
    expect(names.add({ title: 'Expression Input', type: 'object' }, 'x')).to.deep.equal({ $ref: '#/components/schemas/Expression%20Input' })
    expect(names.add({ title: 'Expression Input', type: 'object' }, 'x')).to.deep.equal({ $ref: '#/components/schemas/Expression%20Input' })
    expect(names.add({ title: 'Expression Input', type: 'string' }, 'x')).to.deep.equal({ $ref: '#/components/schemas/Expression%20Input_2' })
    expect(names.add(true, 'my/flow input')).to.deep.equal({ $ref: '#/components/schemas/my_flow%20input' })
    expect(Object.keys(names.schemas)).to.deep.equal(['Expression Input', 'Expression Input_2', 'my_flow input'])
  })
})
