import { expect } from 'chai'
import { parsePath, valueAt } from '../body-path.ts'
import { parseDuration } from '../durations.ts'
import { LogStore } from '../log-store.ts'
import { Variables } from '../variables.ts'

describe('conformance: paths', () => {
  it('splits keys, indexes and quoted keys', () => {
    expect(parsePath("workflowdata.a[0].'x.y'.b-c")).to.deep.equal(['workflowdata', 'a', 0, 'x.y', 'b-c'])
    expect(parsePath('$')).to.deep.equal([])
    expect(parsePath('$.a')).to.deep.equal(['a'])
    expect(() => parsePath('a[x]')).to.throw('no path')
  })

  it('finds own properties only', () => {
    expect(valueAt({ a: [{ b: null }] }, 'a[0].b')).to.equal(null)
    expect(valueAt({}, 'constructor')).to.equal(undefined)
    expect(valueAt('text', 'length')).to.equal(undefined)
  })
})

describe('conformance: durations', () => {
  it('reads those of steps and ISO 8601', () => {
    expect(['500ms', '10s', '1.5m', '2h', 'PT0.1S', 'P8D'].map(parseDuration)).to.deep.equal([500, 10_000, 90_000, 7_200_000, 100, 691_200_000])
    expect(() => parseDuration('soon')).to.throw('no duration')
  })
})

describe('conformance: variables', () => {
  it('keeps the type of a text that is one variable, and writes the others into the text', () => {
    const variables = new Variables('.')
    variables.set('id', 7)
    variables.set('mock.acme', 'http://localhost:1')
    expect(variables.resolve({ a: '${id}', b: ['/x/${id}', '${mock.acme}/y'] })).to.deep.equal({ a: 7, b: ['/x/7', 'http://localhost:1/y'] })
  })

  it('gives a fresh UUID each time, and one for each name', () => {
    const variables = new Variables('.')
    const [first, second, named, again] = variables.resolve(['${uuid}', '${uuid}', '${uuid:u}', 'x ${uuid:u}'])
    expect(first).to.match(/^[0-9a-f-]{36}$/).and.not.equal(second)
    expect(again).to.equal(`x ${named}`)
  })

  it('reads roots and calls functions of stubs', () => {
    const request = { body: { msg: 'text' } }
    expect(new Variables('.').resolve(['${request.body.msg}', '${reverse(request.body.msg)}'], { request })).to.deep.equal(['text', 'txet'])
  })

  it('reads files beside the case', () => {
    expect(new Variables('test/conformance/workflows').resolve('${file:contested.json}')).to.be.a('string').that.match(/^\{/)
  })

  it('leaves expressions of definitions alone and refuses what nobody has set', () => {
    expect(new Variables('.').resolve(['${ .a }', '${{name : .name}}'])).to.deep.equal(['${ .a }', '${{name : .name}}'])
    expect(() => new Variables('.').resolve('/x/${id}')).to.throw('${id}')
    expect(() => new Variables('.').resolve('${shout(uuid)}')).to.throw('shout')
  })
})

describe('conformance: log', () => {
  it('finds texts in order, in messages of JSON lines too', () => {
    const log = new LogStore()
    log.write('{"level":30,"msg":"Workflow data {\\"a\\":1}, done"}\n')
    log.print('Hello')
    expect(log.missing(['Workflow data {"a":1}', 'Hello'])).to.equal(undefined)
    expect(log.missing(['Hello', 'Workflow data'])).to.equal('Workflow data')
    expect(log.printed).to.deep.equal(['Hello'])
    expect(log.count('data')).to.equal(1)
  })
})
