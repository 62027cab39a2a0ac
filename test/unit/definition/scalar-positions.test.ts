import { expect } from 'chai'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { parseDocument } from '../../../lib/definition/index.ts'

/** Gives the offset in a document of a character of its only value. */
function offsetOf(document: string, uri: string, value: string, offset: number): number {
  const { line, column } = parseDocument(document, { uri }).position('/x', { text: value, offset }) ?? { line: 0, column: 0 }
  return document.split('\n').slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0) + column - 1
}

describe('places inside the texts of a document', () => {
  const rows: readonly (readonly [title: string, document: string, value: string, find: string])[] = [
    ['a plain YAML text', 'x: .a | .b # c\n', '.a | .b', '.b'],
    ['a plain YAML text over lines', 'x: .a\n   | .b\n', '.a | .b', '.b'],
    ['a single-quoted one', 'x: \'it\'\'s .b\'\n', 'it\'s .b', '.b'],
    ['a double-quoted one with escapes', 'x: "\\x41\\u00e9\\U0001F600\\_\\t .b"\n', 'A\u00e9\u{1F600}\u00a0\t .b', '.b'],
    ['a double-quoted one over lines', 'x: "a \\\n  b\n\n  .b"\n', 'a b\n.b', '.b'],
    ['a literal block', 'x: | # c\n    .a\n\n      | .b\n', '.a\n\n  | .b\n', '.b'],
    ['a literal block with indentation', 'x: |2\n   .a\n  .b\n', ' .a\n.b\n', '.b'],
    ['a folded block', 'x: >-\n  .a\n  .c\n\n  .b\n', '.a .c\n.b', '.b'],
    ['a text behind an anchor and a tag', 'x: &a !!str .a | .b\n', '.a | .b', '.b'],
    ['a JSON text with escapes', '{"x": "\\u0061\\n\\"\\\\\\/ .b"}', 'a\n"\\/ .b', '.b'],
    ['lines with carriage returns', 'x: |\r\n  .a\r\n  .b\r\n', '.a\n.b\n', '.b'],
  ]
  for (const [title, document, value, find] of rows) {
    it(`are found in ${title}`, () => {
      const uri = document.startsWith('{') ? 'a.json' : 'a.yaml'
      expect((parseDocument(document, { uri }).value as Record<string, string>)['x']).to.equal(value)
      expect(document.slice(offsetOf(document, uri, value, value.indexOf(find)))).to.match(/^\.b/)
    })
  }

  it('are those right behind the last character for what is missing at the end', () => {
    expect(parseDocument('x: .a +\n', { uri: 'a.yaml' }).position('/x', { text: '.a +', offset: 4 })).to.deep.equal({ line: 1, column: 8 })
    expect(parseDocument('{"x": "${ .a + }"}', { uri: 'a.json' }).position('/x', { text: '${ .a + }', offset: 7 })).to.deep.equal({ line: 1, column: 15 })
  })

  it('are the beginning of the value where the text is another, or behind an alias', () => {
    const parsed = parseDocument('a: &a .a + .b\nx: *a\ny: 5\nz: [1]\n', { uri: 'a.yaml' })
    expect(parsed.position('/a', { text: '.a + .c', offset: 5 })).to.deep.equal({ line: 1, column: 7 })
    expect(parsed.position('/x', { text: '.a + .b', offset: 5 })).to.deep.equal({ line: 2, column: 4 })
    expect(parsed.position('/y', { text: '5', offset: 9 })).to.deep.equal({ line: 3, column: 4 })
    expect(parsed.position('/z', { text: '1', offset: 0 })).to.deep.equal({ line: 4, column: 4 })
    expect(parsed.position('/none', { text: '1', offset: 0 })).to.equal(undefined)
  })

  it('are right for any text in any notation, as far as it can be told', () => {
    const kinds = ['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const
    const text = fc.array(fc.constantFrom('.a', ' ', '\n', '\t', '"', '\'', '\\', '#', ':', '{', '|', '\u00e9', '\u{1F600}', 'long-word'), { minLength: 1, maxLength: 60 }).map((parts) => parts.join(''))
    let exact = 0
    fc.assert(fc.property(text, fc.constantFrom(...kinds, 'JSON' as const), (value, kind) => {
      const document = kind === 'JSON' ? JSON.stringify({ x: value }, undefined, 2) : stringify({ x: value }, { defaultStringType: kind, lineWidth: 30 })
      const uri = kind === 'JSON' ? 'a.json' : 'a.yaml'
      fc.pre((parseDocument(document, { uri }).value as Record<string, string>)['x'] === value)
      const start = offsetOf(document, uri, '', -1)
      for (let offset = 0; offset < value.length; offset += 1) {
        const char = value.charAt(offset)
        if (/\s/.test(char) || (offset > 0 && /[\ud800-\udbff]/.test(value.charAt(offset - 1)))) continue
        const found = document.slice(offsetOf(document, uri, value, offset))
        const isExact = found.startsWith(char) || found.startsWith('\\') || (char === '\'' && found.startsWith('\'\''))
        expect(isExact || offsetOf(document, uri, value, offset) === start, `${JSON.stringify(value)} at ${String(offset)} in ${document}`).to.equal(true)
        if (isExact) exact += 1
      }
    }), { numRuns: 300 })
    expect(exact).to.be.greaterThan(1000)
  })
})
