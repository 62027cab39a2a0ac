import { expect } from 'chai'
import fc from 'fast-check'
import { parseProperties } from '../../../lib/configuration/properties.ts'

function pairs(text: string): Record<string, string> {
  return Object.fromEntries(parseProperties(text).entries.map(({ key, value }) => [key, value]))
}

describe('configuration/properties', () => {
  const rows: readonly (readonly [name: string, text: string, expected: Record<string, string>])[] = [
    ['= : and blanks separate', 'a=1\nb:2\nc 3\nd = 4\ne\t5\nf : 6', { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' }],
    ['# and ! begin comments', '# a=1\n ! b=2\nc=#3', { c: '#3' }],
    ['a backslash continues a line', 'a=1,\\\n   2,\\\n\t3\nb=x\\\\\nc=y', { a: '1,2,3', b: 'x\\', c: 'y' }],
    ['escapes', 'a=\\u00e9\\t|\nb\\=c=d\n\\:e=f\\z', { a: 'é\t|', 'b=c': 'd', ':e': 'fz' }],
    ['escapes of the value syntax stay', 'a=x\\,y,z\nb=\\${c}', { a: 'x\\,y,z', b: '\\${c}' }],
    ['UTF-8, byte order mark, line ends of all kinds', '\uFEFFa=ä\r\nb=ü\rc=ß', { a: 'ä', b: 'ü', c: 'ß' }],
    ['a key alone is empty', 'a\nb=', { a: '', b: '' }],
    ['quoted segments stay quoted', 'a."b.c".d=1', { 'a."b.c".d': '1' }],
    ['a separator in the value', 'a=b=c:d', { a: 'b=c:d' }],
  ]
  for (const [name, text, expected] of rows) {
    it(name, () => { expect(pairs(text)).to.deep.equal(expected) })
  }

  it('keeps the last of equal keys with its line, and warns', () => {
    const { entries, warnings } = parseProperties('a=1\nb=2\na=3')
    expect(entries).to.deep.equal([{ key: 'b', value: '2', line: 2 }, { key: 'a', value: '3', line: 3 }])
    expect(warnings).to.deep.equal(['"a" is set twice, in lines 1 and 3; the last one counts'])
  })

  it('reads back what is written escaped (property)', () => {
    const escape = (text: string): string => text.replace(/[\\=: #!\t\n\r\f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    fc.assert(fc.property(fc.string({ minLength: 1 }).filter((text) => !/[\s$,]/.test(text)), fc.string().filter((text) => text.trim() === text && !/[$,]/.test(text)), (key, value) => {
      expect(pairs(`${escape(key)}=${escape(value)}`)).to.deep.equal({ [key]: value })
    }))
  })
})
