import { expect } from 'chai'
import { defineFunction, json, text, type FunctionRuntimeOptions } from '../../../lib/function-runtime/index.ts'
import { binary, jsonBody, served, structured, type Served } from './harness.ts'

const named = (name: string, options: object = {}): object =>
  defineFunction({ name, input: json({ type: ['string', 'null'] }), output: text, ...options }, () => name)

async function route(functions: object[], options: FunctionRuntimeOptions, check: (server: Served) => Promise<void>): Promise<void> {
  await using server = await served(functions, options)
  await check(server)
}

describe('routing of plain requests', () => {
  it('goes by the exact name, with and without a trailing slash, percent-decoded once', () =>
    route([named('greet'), named('grüße dich')], {}, async ({ send }) => {
      expect((await send('/greet', jsonBody('x'))).text).to.equal('"greet"')
      expect((await send('/greet/', jsonBody('x'))).text).to.equal('"greet"')
      expect((await send(`/${encodeURIComponent('grüße dich')}`, jsonBody('x'))).text).to.equal('"grüße dich"')
      for (const path of ['/Greet', '/greet/x', '/%67reet%2', '/nosuch']) {
        const answer = await send(path, jsonBody('x'))
        expect([answer.status, (answer.json() as { code: string }).code], path).to.deep.equal([404, 'ADDRESS_UNKNOWN'])
      }
    }))

  it('takes the only function or the exported one at /', async () => {
    await route([named('a')], {}, async ({ send }) => { expect((await send('/', jsonBody('x'))).text).to.equal('"a"') })
    await route([named('a'), named('b')], { export: 'b' }, async ({ send }) => { expect((await send('/', jsonBody('x'))).text).to.equal('"b"') })
    await route([named('a'), named('b')], {}, async ({ send }) => { expect((await send('/', jsonBody('x'))).status).to.equal(404) })
  })

  it('lives below its root path and leaves everything else to the next middleware', () => route([named('a')], { rootPath: '/api/' }, async ({ send }) => {
    for (const path of ['/api', '/api/', '/api/a']) expect((await send(path, jsonBody('x'))).status, path).to.equal(200)
    expect((await send('/a', jsonBody('x'))).text).to.equal('Not Found')
    expect((await send('/apix', jsonBody('x'))).text).to.equal('Not Found')
    expect((await send('/other', binary({ type: 'a' }))).text).to.equal('Not Found')
  }))
})

describe('routing of events', () => {
  it('takes any type at any path for a single function without trigger', () => route([named('a')], {}, async ({ send }) => {
    for (const path of ['/', '/a', '/anything/else']) expect((await send(path, binary({ type: 'x' }))).text, path).to.equal('"a"')
  }))

  it('holds a single function to its trigger or attributes when it has any', async () => {
    await route([named('a', { trigger: 't' })], {}, async ({ send }) => {
      expect([(await send('/', binary({ type: 't' }))).status, (await send('/', binary({ type: 'a' }))).status]).to.deep.equal([200, 404])
    })
    await route([named('a', { attributes: { Subject: 's' } })], {}, async ({ send }) => {
      expect([(await send('/', binary({ type: 'a', subject: 's' }))).status, (await send('/', binary({ type: 'a' }))).status]).to.deep.equal([200, 404])
    })
  })

  it('takes the exported function whatever the type', () => route([named('a'), named('b')], { export: 'b' }, async ({ send }) => {
    expect((await send('/', binary({ type: 'a' }))).text).to.equal('"b"')
  }))

  it('goes by declared and configured triggers, the name only without both', () =>
    route([named('a', { trigger: 'declared' }), named('b')], { mapping: { a: { trigger: 'configured', responseType: 'r', responseSource: 's' } } }, async ({ send }) => {
      for (const type of ['declared', 'configured']) {
        const answer = await send('/', binary({ type }))
        expect([answer.text, answer.headers['ce-type'], answer.headers['ce-source']], type).to.deep.equal(['"a"', 'r', 's'])
      }
      expect((await send('/', binary({ type: 'a' }))).status).to.equal(404)
      expect((await send('/', binary({ type: 'b' }))).text).to.equal('"b"')
    }))

  it('goes by attributes of any kind, and to * when nothing else fits', () => route([
    named('a', { trigger: 't', attributes: { source: 'x', Custom: 'hello' } }),
    named('b', { trigger: 't', attributes: { source: 'y' } }),
    named('n', { trigger: 't', attributes: { count: '5' } }),
    named('rest', { trigger: '*' }),
  ], {}, async ({ send }) => {
    expect((await send('/', binary({ type: 't', source: 'x', custom: 'hello' }))).text).to.equal('"a"')
    expect((await send('/', binary({ type: 't', source: 'x', custom: 'Hello' }))).text).to.equal('"rest"')
    expect((await send('/', structured({ type: 't', source: 'z', count: 5 }))).json()).to.include({ data: 'n' })
    expect((await send('/', binary({ type: 'unheard' }))).text).to.equal('"rest"')
  }))

  it('answers 404 for none and 409 for several, without event attributes', () => route([
    named('a', { trigger: 't', attributes: { x: '1' } }),
    named('b', { trigger: 't', attributes: { y: '1' } }),
  ], {}, async ({ send }) => {
    const none = await send('/', structured({ type: 't' }))
    expect([none.status, (none.json() as { code: string }).code, none.headers['content-type']]).to.deep.equal([404, 'FUNCTION_NOT_FOUND', 'application/json'])
    const several = await send('/', binary({ type: 't', x: '1', y: '1' }))
    expect([several.status, several.headers['ce-id']]).to.deep.equal([409, undefined])
    expect((several.json() as { message: string }).message).to.include('a, b')
  }))
})
