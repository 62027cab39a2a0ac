import { expect } from 'chai'
import { serveFunctions } from '../../../../lib/cli/commands/functions.ts'
import type { CommandIo } from '../../../../lib/cli/io.ts'
import { silentLogger, type Logger } from '../../../../lib/common/index.ts'
import { jsonBody, keptLog, send } from '../../function-runtime/harness.ts'

/** Runs the command until `use` has seen the address. */
async function run(args: readonly string[], use: (url: string) => Promise<void> = () => Promise.resolve(), environment: Record<string, string> = {}, log: Logger = silentLogger): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = []
  let stop: (signal: string) => void = () => undefined
  const stopped = new Promise<string>((resolve) => { stop = resolve })
  let using: Promise<void> = Promise.resolve()
  const io: CommandIo = {
    cwd: 'test/fixtures/functions',
    out: (line) => {
      lines.push(line)
      const url = /^Sonatina serves .* at (\S+)$/.exec(line)?.[1]
      if (url !== undefined) using = use(url).finally(() => { stop('SIGTERM') })
    },
    err: (line) => { lines.push(line) },
    read: () => Promise.resolve(''),
    stopped: () => stopped,
  }
  const code = await serveFunctions(args, io, { log, environment })
  await using
  return { code, lines }
}

const failure = (args: readonly string[], environment?: Record<string, string>): Promise<string> =>
  run(args, undefined, environment).then(() => 'served', (error: unknown) => (error as Error).message)

describe('sonatina functions', () => {
  it('serves every function that a module exports, by export and method name', async () => {
    const { code, lines } = await run(['shop.ts', '--port', '0'], async (url) => {
      expect((await send(`${url}/greet?name=Bill`)).json()).to.equal('Hello Bill')
      expect((await send(`${url}/double`, jsonBody(4))).json()).to.equal(8)
    })
    expect(code).to.equal(0)
    expect(lines[0]).to.match(/^Sonatina serves 2 functions at http:\/\/127\.0\.0\.1:\d+$/)
    expect(lines.at(-1)).to.equal('Stopping: running functions are finished first.')
  })

  it('serves a default export of serve(...), whose functions take the names of exports', async () => {
    await run(['service.mjs', '--port', '0'], async (url) => {
      expect((await send(`${url}/hello`)).json()).to.equal('hello')
    })
  })

  it('takes port, export and mappings from options and settings', async () => {
    const args = ['shop.ts', '--export', 'double', '-Dsonatina.function-runtime.mapping.greet.trigger=person.created']
    await run(args, async (url) => { expect((await send(url, jsonBody(4))).json()).to.equal(8) }, { PORT: '0' })
    expect(await failure([...args, '--port', '0', '-Dquarkus.funqy.knative-events.mapping.absent.trigger=x'])).to.include('mapping names absent')
  })

  it('says what is wrong with the call, the module and the functions', async () => {
    expect(await failure([])).to.include('name at least one file')
    expect(await failure(['none.ts'])).to.include('none.ts exports no function')
    expect(await failure(['broken.ts'])).to.include('broken.ts cannot be loaded')
    expect(await failure(['absent.ts'])).to.include('absent.ts cannot be loaded')
    expect(await failure(['shop.ts', '--export', 'absent', '--port', '0'])).to.include('export names absent, which is no function')
    expect(await failure(['shop.ts', 'service.mjs'])).to.include('is served alone')
  })

  it('says why the functions could not be started', async () => {
    expect(await failure(['init.mjs', '--port', '0'])).to.equal('The functions could not be started: no database')
  })

  it('logs rejections that no function waits for, and goes on', async () => {
    const { lines: logged, log } = keptLog()
    await run(['stray.mjs', '--port', '0'], async (url) => {
      expect((await send(`${url}/stray`)).json()).to.equal('answered')
      await new Promise(setImmediate)
      expect((await send(`${url}/stray`)).status).to.equal(200)
    }, {}, log)
    expect(logged.some(({ msg }) => String(msg).includes('no function waits for'))).to.equal(true)
  })

  it('prints its help', async () => {
    const { code, lines } = await run(['--help'])
    expect([code, lines.join('\n').includes('--watch')]).to.deep.equal([0, true])
  })
})
