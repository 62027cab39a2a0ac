import { expect } from 'chai'
import fc from 'fast-check'
import { createRedact } from '../../../lib/inspector/redact.ts'
import type { Capture } from '../../../lib/inspector/settings.ts'

const HIDDEN = '•••'

const make = (more: { patterns?: string[]; secrets?: string[]; capture?: Capture } = {}): ReturnType<typeof createRedact> =>
  createRedact({ patterns: more.patterns ?? [], secrets: new Set(more.secrets ?? []), capture: more.capture ?? 'full' })

describe('inspector: redaction', () => {
  it('hides values of keys that look like secrets, at any depth, and leaves the rest', () => {
    const data = { name: 'Ada', apiKey: 'k', nested: [{ 'X-Api-Key': 'k', clientSecret: { deep: 'k' }, Authorization: 'k', cookies: ['k'], none: null, password: null }] }
    expect(make()(data)).to.deep.equal({
      name: 'Ada', apiKey: HIDDEN, nested: [{ 'X-Api-Key': HIDDEN, clientSecret: HIDDEN, Authorization: HIDDEN, cookies: HIDDEN, none: null, password: null }],
    })
  })

  it('hides keys of the settings by pattern', () => {
    expect(make({ patterns: ['iban', 'card*number'] })({ IBAN: 'x', cardHolderNumber: 'y', card: 'z' })).to.deep.equal({ IBAN: HIDDEN, cardHolderNumber: HIDDEN, card: 'z' })
  })

  it('hides user info and secret-looking values of addresses and messages', () => {
    expect(make()('see https://user:pa55@host/p?a=1&access_token=abc#x')).to.equal(`see https://${HIDDEN}@host/p?a=1&access_token=${HIDDEN}#x`)
    expect(make()('it broke with token=abc, name=Ada')).to.equal(`it broke with token=${HIDDEN}, name=Ada`)
  })

  it('hides what came from $SECRET wherever it stands, whatever is around it', () => {
    fc.assert(fc.property(fc.string(), fc.string(), fc.stringMatching(/^[A-Za-z0-9]{6,30}$/u), (before, after, secret) => {
      expect(JSON.stringify(make({ secrets: [secret] })({ a: [before + secret + after], [secret]: 1 }))).to.not.contain(secret)
    }))
  })

  it('shows kinds with capture shape, and nothing with none; words of errors stay', () => {
    expect(make({ capture: 'shape' })({ a: 'abc', b: [1, true, null] })).to.deep.equal({ a: 'string(3)', b: ['number', 'boolean', null] })
    expect(make({ capture: 'none' })({ a: 1 })).to.equal(null)
    expect(make({ capture: 'none' }).words({ message: 'broken' })).to.deep.equal({ message: 'broken' })
  })

  it('ends in a mark for cycles and changes nothing that it is given', () => {
    const data: Record<string, unknown> = { token: 'abc' }
    data['self'] = data
    expect(make()(data)).to.deep.equal({ token: HIDDEN, self: '… (circular)' })
    expect(data['token']).to.equal('abc')
  })

  it('takes any JSON and keeps what holds no secret', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      if (/secret|token|passw|authorization|cookie|api|=|:\/\//iu.test(text)) return
      expect(JSON.stringify(make()(value))).to.equal(text)
    }))
  })
})
