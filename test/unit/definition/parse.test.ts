import { expect } from 'chai'
import type { DefinitionError } from '../../../lib/errors/index.ts'
import { parseDocument } from '../../../lib/definition/index.ts'
import { MAX_DOCUMENT_LENGTH } from '../../../lib/definition/parse.ts'

function fault(text: string, uri = 'a.sw.yaml'): DefinitionError {
  try {
    parseDocument(text, { uri })
  } catch (error) {
    return error as DefinitionError
  }
  throw new Error('The text was accepted')
}

describe('definition/parse', () => {
  it('reads JSON and finds the position of each value', () => {
    const parsed = parseDocument('{\n  "a": [1, {"b/c": "x"}],\n  "d": null\n}', { uri: 'a.sw.json' })
    expect(parsed.format).to.equal('json')
    expect(parsed.value).to.deep.equal({ a: [1, { 'b/c': 'x' }], d: null })
    expect(parsed.position('/a/1/b~1c')).to.deep.equal({ line: 2, column: 20 })
    expect(parsed.position('/d')).to.deep.equal({ line: 3, column: 8 })
    expect(parsed.position('')).to.deep.equal({ line: 1, column: 1 })
    expect(parsed.position('/e')).to.equal(undefined)
  })

  it('reads YAML and finds the position of each value, through aliases too', () => {
    const parsed = parseDocument('id: x\nlist:\n  - &one {a: 1}\n  - *one\n', { uri: 'a.sw.yaml' })
    expect(parsed.value).to.deep.equal({ id: 'x', list: [{ a: 1 }, { a: 1 }] })
    expect(parsed.position('/id')).to.deep.equal({ line: 1, column: 5 })
    expect(parsed.position('/list/0/a')).to.deep.equal({ line: 3, column: 14 })
    expect(parsed.position('/list/1/a')).to.deep.equal({ line: 3, column: 14 })
  })

  it('keeps the characters of a scalar: 1.0 is not 1', () => {
    expect(parseDocument('version: 1.0', { uri: 'a.yml' }).sourceText('/version')).to.equal('1.0')
    expect(parseDocument('{"version": 1.0}', { uri: 'a.json' }).sourceText('/version')).to.equal('1.0')
  })

  it('decides the notation by content', () => {
    expect(parseDocument('{"id": "x"}', { uri: 'a.yaml' }).format).to.equal('json')
    expect(parseDocument('id: x', { uri: 'a.json' }).format).to.equal('yaml')
    expect(parseDocument('{id: x, states: []}', { uri: 'a.yaml' }).format).to.equal('yaml')
  })

  it('skips a byte order mark', () => {
    expect(parseDocument('\uFEFF{"id":"x"}', { uri: 'a.json' }).value).to.deep.equal({ id: 'x' })
  })

  it('keeps __proto__ as an own key in both notations', () => {
    for (const text of ['{"__proto__": {"a": 1}}', '__proto__: {a: 1}']) {
      const { value } = parseDocument(text, { uri: 'a' })
      expect(Object.keys(value as object)).to.deep.equal(['__proto__'])
      expect(({} as Record<string, unknown>)['a']).to.equal(undefined)
    }
  })

  const hostile: readonly (readonly [string, string, RegExp, number?])[] = [
    ['JSON with a missing comma', '{"a": 1\n "b": 2}', /not JSON/, 2],
    ['JSON that ends too early', '{"a": [', /not JSON/, 1],
    ['a JSON key given twice', '{"a": 1,\n"a": 2}', /"a" is given twice/, 2],
    ['a YAML key given twice', 'a: 1\na: 2', /"a" is given twice/, 2],
    ['YAML indented by a tab', 'a:\n\t- b: 1', /not YAML/, 2],
    ['several YAML documents', 'a: 1\n---\nb: 2', /not YAML/],
    ['a NUL character', 'a: x\n\0', /NUL/, 2],
    ['an alias bomb', `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}: &${name} [${Array(9).fill(`*${String.fromCharCode(name.charCodeAt(0) - 1)}`).join(',')}]`).join('\n')}\n`, /alias/i],
    ['an alias of nothing', 'a: *b', /alias/i],
    ['an alias inside its own anchor', 'a: &a [*a]', /./],
    ['deep JSON', `${'['.repeat(300)}${']'.repeat(300)}`, /deeper than 200/],
    ['very deep JSON', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, /deeper than 200/],
    ['deep YAML', '['.repeat(2000), /deeper than 200/],
    ['very deep YAML', `a: ${'['.repeat(200_000)}`, /deeper than 200/],
    ['deep compact YAML', '- '.repeat(20_000), /deeper than 200/],
    ['a number that JSON has not', 'a: .inf', /infinite or none/, 1],
    ['a text that is too long', ' '.repeat(MAX_DOCUMENT_LENGTH + 1), /characters/],
    ['ten megabytes', `{"a": "${'x'.repeat(10 * 1024 * 1024)}"}`, /characters/],
  ]
  for (const [name, text, message, line] of hostile) {
    it(`refuses ${name}`, () => {
      const error = fault(text, name.includes('JSON') ? 'a.sw.json' : 'a.sw.yaml')
      expect(error.name).to.equal('DefinitionError')
      expect(error.code).to.equal('DEFINITION_INVALID')
      expect(error.message).to.match(message)
      expect(error.message).to.contain('a.sw.')
      expect(error.violations.length).to.be.within(1, 20)
      if (line !== undefined) expect(error.violations[0]?.line).to.equal(line)
    })
  }
})
