import { expect } from 'chai'
import { isNestedDeeper } from '../../../lib/common/nesting.ts'

describe('common/nesting', () => {
  it('finds flow and block collections that nest too deep, and mixtures of them', () => {
    for (const depth of [201, 2000, 200_000]) {
      for (const part of ['[', '{a: ', '- ', '? ', '- ? ']) expect(isNestedDeeper(part.repeat(depth), 200), part).to.equal(true)
    }
    expect(isNestedDeeper(Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\r\n'), 200)).to.equal(true)
    expect(isNestedDeeper(`a: 1\n${'- '.repeat(150)}x`, 200)).to.equal(true)
  })

  it('lets long, wide and moderately deep texts pass', () => {
    expect(isNestedDeeper(`${'['.repeat(200)}${']'.repeat(200)}`, 200)).to.equal(false)
    expect(isNestedDeeper('- [1, {a: 2}]\n'.repeat(10_000), 200)).to.equal(false)
    expect(isNestedDeeper(`text: ${'word '.repeat(10_000)}`, 200)).to.equal(false)
    expect(isNestedDeeper(']'.repeat(1000) + '['.repeat(10), 200)).to.equal(false)
    expect(isNestedDeeper('', 200)).to.equal(false)
  })
})
