import { expect } from 'chai'
import { createLogging } from '../../../lib/common/index.ts'

describe('common/logging', () => {
  const open = (options: Parameters<typeof createLogging>[0] = {}): ReturnType<typeof createLogging> & { lines: string[] } => {
    const lines: string[] = []
    return { ...createLogging({ write: (line) => { lines.push(line) }, ...options }), lines }
  }
  const messages = (lines: string[]): unknown[] => lines.map((line) => (JSON.parse(line) as { msg: unknown }).msg)

  it('writes lines of JSON with the bindings of its children', () => {
    const { log, lines } = open()
    log.child({ instance: 'i' }).child({ requestId: 'r' }).warn({ a: 1 }, 'hello')
    expect(JSON.parse(lines[0] ?? '')).to.deep.include({ level: 40, instance: 'i', requestId: 'r', a: 1, msg: 'hello' })
  })

  it('has a level for each category, for what is below it, and for everything else', () => {
    const { log, lines } = open({ level: 'warn', categories: { 'http-client': 'debug', 'http-client.tls': 'silent' } })
    log.info({}, 'no')
    log.child({ category: 'http-client' }).debug({}, 'yes')
    log.child({ module: 'http-client.pool' }).debug({}, 'yes too')
    log.child({ category: 'http-client' }).child({ instance: 'i' }).debug({}, 'yes as well')
    log.child({ category: 'http-client.tls' }).error({}, 'no')
    log.child({ category: 'auth' }).info({}, 'no')
    expect(messages(lines)).to.deep.equal(['yes', 'yes too', 'yes as well'])
  })

  it('changes levels of loggers that exist', () => {
    const logging = open()
    const { log, lines } = logging
    const child = log.child({ category: 'auth' })
    child.debug({}, 'no')
    expect(logging.setLevel('auth', 'trace')).to.equal(true)
    child.debug({}, 'yes')
    logging.setLevel('auth', undefined)
    child.debug({}, 'no')
    logging.setLevel('', 'debug')
    child.debug({}, 'again')
    expect(logging.setLevel('auth', 'loud')).to.equal(false)
    expect(logging.levels()).to.deep.equal({ '': 'debug' })
    expect(messages(lines)).to.deep.equal(['yes', 'again'])
  })

  it('writes text for people', () => {
    const { log, lines } = open({ json: false })
    log.child({ category: 'auth', instance: 'i' }).warn({ count: 2 }, 'careful')
    log.error({ err: new TypeError('broken') }, 'failed')
    expect(lines[0]).to.match(/^\S+Z WARN {2}\[auth\] careful instance=i count=2\n$/)
    expect(lines[1]).to.match(/^\S+Z ERROR failed\nTypeError: broken\n {4}at /)
  })

  // Names, data and answers of others stand in lines; whoever reads them must see what is ours.
  it('writes text that nobody else can begin a line of, or colour', () => {
    const { log, lines } = open({ json: false })
    const forged = 'go\n2026-01-31T12:00:00.000Z ERROR forged\r\u001b[31m\u009b31m\u2028'
    log.child({ category: forged, [forged]: 1 }).info({ type: forged, nested: { a: forged }, err: { stack: forged } }, `told: ${forged}`)
    const text = lines.join('')
    expect(text.split('\n').filter((line) => line.startsWith('2026-01-31'))).to.deep.equal([])
    expect(text).not.to.match(/[\r\u001b\u009b\u2028]/)
    expect(text).to.contain('type="go\\n2026-01-31T12:00:00.000Z ERROR forged\\r\\u001b[31m\\u009b31m\\u2028"')
  })

  it('keeps the lines of a message together', () => {
    const { log, lines } = open({ json: false })
    log.warn({}, 'no client\nMissing: a')
    expect(lines[0]).to.match(/WARN {2}no client\n {4}Missing: a\n$/)
  })
})
