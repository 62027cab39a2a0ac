import { expect } from 'chai'
import { wordViolation, wordViolations } from '../../../lib/cli/violations.ts'

describe('cli/violations', () => {
  it('shows the line, a caret under the column, and the cure', () => {
    expect(wordViolation('a.json', { pointer: '/start', line: 2, column: 12, message: 'no such state', hint: 'there is "A"' }, ['{', '  "start": "B"', '}'])).to.equal(
      'a.json:2:12: no such state (at /start)\n      "start": "B"\n               ^\n    hint: there is "A"')
  })

  it('shows the surroundings of a place in a long line', () => {
    const line = `${'x'.repeat(500)}!${'y'.repeat(500)}`
    const text = wordViolation('a.json', { pointer: '', line: 1, column: 501, message: 'm' }, [line])
    const [, excerpt = '', caret = ''] = text.split('\n')
    expect(excerpt.length).to.be.below(110)
    expect(excerpt[caret.indexOf('^')]).to.equal('!')
  })

  it('tells what has no line without one, and an error without violations by its message', () => {
    expect(wordViolation('a.json', { pointer: '/x', message: 'm' }, [])).to.equal('a.json: m (at /x)')
    expect(wordViolations('/p/a.json', { message: 'two files' }, { cwd: '/p' })).to.equal('a.json: two files')
  })
})
