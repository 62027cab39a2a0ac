import { expect } from 'chai'
import { LONGEST_TEXT, parseDocuments, parseValue } from '../../../lib/tenancy/documents.ts'

const messages = (text: string): string[] => parseDocuments(text, 'f.yaml').violations.map(({ line, message }) => `${String(line)}: ${message}`)

describe('tenancy/documents', () => {
  it('reads several documents, takes lists apart and leaves empty ones out', () => {
    const { documents, violations } = parseDocuments(`---
---
kind: A
metadata: {name: one, namespace: ns}
---
apiVersion: v1
kind: List
items:
  - kind: B
    metadata: {name: two}
  - kind: C
`, 'f.yaml')
    expect(violations).to.deep.equal([])
    expect(documents.map(({ name, value }) => `${name} ${String(value['kind'])}`)).to.deep.equal(['ns/one A', 'default/two B', '#3/items/1 C'])
    expect(documents.map(({ line }) => line('/kind'))).to.deep.equal([3, 9, 11])
  })

  it('tells the line of the deepest part that is there', () => {
    const [document] = parseDocuments('kind: A\nspec:\n  rules:\n    - frm: 1\n', 'f.yaml').documents
    expect(document?.line('/spec/rules/0/frm')).to.equal(4)
    expect(document?.line('/spec/rules/0/from/7')).to.equal(4)
    expect(document?.line('/spec/selector')).to.equal(3)
  })

  it('reads JSON', () => {
    expect(parseDocuments('{"kind": "A", "metadata": {"name": "x"}}', 'f.json').documents[0]?.name).to.equal('default/x')
  })

  it('tells syntax errors and duplicate keys with their line', () => {
    expect(messages('kind: A\nkind: B\n')[0]).to.match(/^2: Map keys must be unique/)
    expect(messages('a: [1\nb: 2\n')[0]).to.match(/^2: /)
    expect(messages('- 1\n- 2\n')[0]).to.match(/Kubernetes object/)
    expect(messages('kind: List\nitems: [7]\n')[0]).to.match(/Kubernetes object/)
  })

  it('refuses anchor bombs, deep nesting, binary and endless text without ending the process', () => {
    const bomb = ['a0: &a0 [x,x,x,x,x,x,x,x,x]', ...Array.from({ length: 12 }, (_, index) => `a${String(index + 1)}: &a${String(index + 1)} [${Array.from({ length: 9 }, () => `*a${String(index)}`).join(',')}]`)].join('\n')
    expect(messages(bomb)[0]).to.match(/[Ee]xcessive alias/)
    for (const depth of [201, 2000, 20_000, 200_000]) {
      expect(messages('['.repeat(depth))[0]).to.match(/nested deeper than 200 levels/)
      expect(messages('{a: '.repeat(depth))[0]).to.match(/nested deeper/)
      expect(messages('- '.repeat(depth))[0]).to.match(/nested deeper/)
    }
    expect(messages(Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'))[0]).to.match(/nested deeper/)
    expect(messages(`kind: A\nspec: ${'['.repeat(150)}${']'.repeat(150)}`)).to.deep.equal([])
    expect(messages('kind: A\0')[0]).to.match(/binary/)
    expect(messages('a'.repeat(LONGEST_TEXT + 1))[0]).to.match(/longer than/)
    expect(() => parseValue(bomb, 'f.yaml')).to.throw(/f\.yaml: .*[Ee]xcessive alias/)
    expect(() => parseValue('a: b: c', 'f.yaml')).to.throw(/f\.yaml:1/)
  })
})
