import { expect } from 'chai'
import fc from 'fast-check'
import { findJsonFault } from '../../../lib/server/json-position.ts'

describe('server/json-position', () => {
  const cases: [text: string, position: number][] = [
    ['{"a":1', 6],
    ['', 0],
    ['   ', 3],
    ['abc', 0],
    ['{x}', 1],
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['1 2', 2],
    ['01', 1],
    ['"a', 2],
    ['"\\x"', 1],
    ['[}', 1],
    ['{"a":]', 5],
    ['tru', 0],
    ['-', 0],
    ['[1]]', 3],
  ]
  for (const [text, position] of cases) {
    it(`finds the fault of ${JSON.stringify(text)} at ${String(position)}`, () => {
      expect(findJsonFault(text).position).to.equal(position)
    })
  }

  it('counts lines and columns from 1', () => {
    expect(findJsonFault('{\n  "a": 1,\n  b\n}')).to.include({ line: 3, column: 3 })
  })

  it('takes valid JSON to its end, whatever its values', () => {
    fc.assert(fc.property(fc.json(), (text) => {
      expect(findJsonFault(text).position).to.equal(text.length)
    }))
  })

  it('stops inside any text that JSON.parse refuses, or at its end when it was cut', () => {
    fc.assert(fc.property(fc.json(), fc.nat(), fc.string({ maxLength: 3 }), (json, at, noise) => {
      const cut = at % (json.length + 1)
      const text = json.slice(0, cut) + noise
      let isJson = true
      try { JSON.parse(text) } catch { isJson = false }
      if (!isJson) expect(findJsonFault(text).position).to.be.within(0, text.length)
    }))
  })

  it('does not run out of stack on deep nesting', () => {
    expect(findJsonFault('['.repeat(1_000_000)).position).to.equal(1_000_000)
  })
})
