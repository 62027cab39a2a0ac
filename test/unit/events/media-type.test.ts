import { expect } from 'chai'
import fc from 'fast-check'
import { isJsonMediaType, isUtf8, parseMediaType } from '../../../lib/events/index.ts'

describe('media types', () => {
  it('are parsed without case, with parameters in any spacing', () => {
    expect(parseMediaType('Text/HTML; charset=UTF-8')).to.deep.equal({ essence: 'text/html', charset: 'utf-8' })
    expect(parseMediaType('text/plain;charset="utf-8" ; format=flowed;')).to.deep.equal({ essence: 'text/plain', charset: 'utf-8' })
    expect(parseMediaType('a/b')).to.deep.equal({ essence: 'a/b', charset: undefined })
  })

  it('are refused when they are none', () => {
    for (const text of ['', 'xyz', 'a/', '/b', 'a/b/c', 'a/b x', 'a/b; =1', 'a/b; q']) expect(parseMediaType(text), text).to.equal(undefined)
  })

  it('stand for JSON by subtype or suffix', () => {
    const isJson = (text: string): boolean => {
      const mediaType = parseMediaType(text)
      return mediaType !== undefined && isJsonMediaType(mediaType)
    }
    expect(['application/json', 'text/json', 'application/x+json'].every(isJson)).to.equal(true)
    expect(['application/jsonx', 'text/plain', 'application/json-seq'].some(isJson)).to.equal(false)
  })

  it('are UTF-8 without a charset, with UTF-8 and with US-ASCII', () => {
    const of = (charset: string | undefined): boolean => isUtf8({ essence: 'text/plain', charset })
    expect([undefined, 'utf-8', 'us-ascii'].every(of)).to.equal(true)
    expect(['latin1', 'utf-16'].some(of)).to.equal(false)
  })

  it('cost linear time whatever the text is', () => {
    fc.assert(fc.property(fc.constantFrom(';  ', '; a=b ', '"\\', ' ;', 'a/b;'), (part) => {
      expect(parseMediaType(`a/b${part.repeat(20_000)}!`)).to.equal(undefined)
    }))
  })
})
