import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { isJsonObject, type Json } from '../../../lib/common/index.ts'
import { readDuration } from '../../../lib/definition/duration.ts'
import { createWorkflowSchema } from '../../../lib/definition/schema/workflow.ts'
import { placesOf } from './support/places.ts'

const folder = new URL('../../../workflows/', import.meta.url)
const documents = readdirSync(folder).filter((file) => file.endsWith('.sw.json')).map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Json)

function compile(mode: 'strict' | 'tolerant'): (document: Json) => boolean {
  const ajv = new Ajv2020({ strict: false })
  ajv.addFormat('swf-duration', (text) => readDuration(text, {}) !== undefined)
  const validator = ajv.compile(createWorkflowSchema(mode))
  return (document) => validator(document)
}

describe('definition schema: strict and tolerant', () => {
  const strict = compile('strict')
  const tolerant = compile('tolerant')

  it('is a schema of JSON Schema itself, which the product does not check', () => {
    const ajv = new Ajv2020({ strict: false })
    for (const mode of ['strict', 'tolerant'] as const) expect(ajv.validateSchema(createWorkflowSchema(mode)), ajv.errorsText()).to.equal(true)
  })

  it('tolerates whatever is strict, also of documents with a place changed, doubled or gone', () => {
    let passed = 0
    const pieces = documents.flatMap((document) => placesOf(document).map(({ holder, key }) => holder[key] as Json))
    fc.assert(fc.property(fc.constantFrom(...documents), fc.nat(), fc.constantFrom(...pieces, '', 1, true, null, [], {}), fc.boolean(), (document, at, value, remove) => {
      const copy = structuredClone(document)
      const places = placesOf(copy)
      const { holder, key } = places[at % places.length] as { holder: Record<string, Json>; key: string }
      if (remove && isJsonObject(holder)) Reflect.deleteProperty(holder, key)
      else holder[key] = value
      if (!strict(copy)) return
      passed += 1
      expect(tolerant(copy)).to.equal(true)
    }), { numRuns: 2_000 })
    expect(passed).to.be.greaterThan(50)
  })
})
