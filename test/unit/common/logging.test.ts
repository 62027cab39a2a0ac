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
})
