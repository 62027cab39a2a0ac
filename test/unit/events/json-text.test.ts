import { expect } from 'chai'
import fc from 'fast-check'
import { parseJsonBytes, toJsonText } from '../../../lib/events/index.ts'

describe('JSON text', () => {
  it('keeps the sign of −0 at any depth, also beside texts that look like it', () => {
    expect(toJsonText(-0)).to.equal('-0')
    expect(toJsonText({ a: [-0, 0, '-0', ':0,'], '-0-0': -0 })).to.equal('{"a":[-0,0,"-0",":0,"],"-0-0":-0}')
  })

  it('is what JSON.parse reads back, for every JSON value', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => { expect(JSON.parse(toJsonText(value))).to.deep.equal(value) }))
  })
})

describe('JSON bytes', () => {
  const parse = (text: string, maxDepth?: number): unknown => parseJsonBytes(Buffer.from(text), maxDepth)

  it('may be any value and may start with a byte order mark', () => {
    expect(parse('\ufeff"x"')).to.deep.equal({ value: 'x' })
    expect(parse('null')).to.deep.equal({ value: null })
  })

  it('are refused with a reason: broken, not UTF-8, too deep', () => {
    expect(parse('{bad')).to.have.property('reason').that.includes('is not JSON')
    expect(parseJsonBytes(Uint8Array.of(0x22, 0xff, 0x22))).to.deep.equal({ reason: 'is not valid UTF-8' })
    expect(parse('[[[]]]', 2)).to.deep.equal({ reason: 'is nested deeper than 2 levels' })
  })

  it('count brackets outside of strings only', () => {
    expect(parse('["[[[[[\\"[[", [1]]', 2)).to.have.property('value')
  })
})
