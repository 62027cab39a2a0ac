import { readdir } from 'node:fs/promises'
import { expect } from 'chai'
import { COMMANDS, type CommandEntry } from '../../../lib/cli/commands.ts'
import type { Command } from '../../../lib/cli/io.ts'
import { runCommandLine } from '../../../lib/cli/run.ts'
import { nearest, parseArguments, parseSettings, usageError } from '../../../lib/cli/usage.ts'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { createFakeIo, type FakeIo } from './io.ts'

describe('cli/run', () => {
  const run = async (args: string[], command: Command = () => Promise.resolve(0)): Promise<[number, FakeIo]> => {
    const io = createFakeIo('/')
    const commands: CommandEntry[] = ['serve', 'validate'].map((name) => ({ name, summary: `does ${name}`, load: () => Promise.resolve(command) }))
    return [await runCommandLine(args, io, { version: '9.9.9', commands }), io]
  }

  it('tells how it is called', async () => {
    for (const [args, code] of [[[], 2], [['--help'], 0], [['help'], 0], [['-h'], 0]] as const) {
      const [rc, io] = await run([...args])
      expect(rc).to.equal(code)
      expect(io.outText()).to.match(/^sonatina <command>[\s\S]*serve +does serve[\s\S]*validate +does validate/)
    }
    const [rc, io] = await run(['--version'])
    expect([rc, io.outText()]).to.deep.equal([0, '9.9.9'])
  })

  it('names near commands for one that is not there', async () => {
    const [rc, io] = await run(['servr'])
    expect(rc).to.equal(2)
    expect(io.errText()).to.include('There is no command "servr". Did you mean serve?')
    expect((await run(['val']))[1].errText()).to.include('Did you mean validate?')
    expect((await run(['zzzzz']))[1].errText()).to.not.include('Did you mean')
  })

  it('hands the other arguments on and the exit code back', async () => {
    let seen: readonly string[] = []
    const [rc] = await run(['serve', 'a', '--b'], (args) => { seen = args; return Promise.resolve(7) })
    expect([rc, seen]).to.deep.equal([7, ['a', '--b']])
  })

  it('tells wrong usage and exits 2, failures in one text and exits 1, defects with their stack', async () => {
    const failing = async (error: Error): Promise<[number, string]> => {
      const [rc, io] = await run(['serve'], () => Promise.reject(error))
      return [rc, io.errText()]
    }
    expect(await failing(usageError('no such option'))).to.deep.equal([2, 'sonatina serve: no such option\nsonatina serve --help tells how it is called.'])
    expect(await failing(new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: 'port is taken' }))).to.deep.equal([1, 'CONFIGURATION_INVALID: port is taken'])
    const [rc, text] = await failing(new TypeError('oops'))
    expect(rc).to.equal(1)
    expect(text).to.match(/^This is a defect of sonatina:\nTypeError: oops\n {4}at /)
  })

  it('has an entry for every file of commands, each name once', async () => {
    const files = (await readdir('lib/cli/commands')).filter((name) => name.endsWith('.ts')).map((name) => name.slice(0, -3))
    const names = COMMANDS.map(({ name }) => name)
    expect(names.filter((name) => name !== 'dev').sort()).to.deep.equal(files.sort())
    expect(new Set(names).size).to.equal(names.length)
  })

  it('has commands that can be loaded and answer --help with 0', async () => {
    for (const { name, load } of COMMANDS) {
      const io = createFakeIo('/')
      const command = await load()
      expect(await command(['--help'], io), name).to.equal(0)
      expect(io.outText(), name).to.match(new RegExp(`sonatina (${name}|serve)`))
    }
  }).timeout(60_000)
})

describe('cli/usage', () => {
  it('reads -Dkey=value as --set key=value', () => {
    expect(parseArguments(['-Da.b=c', '--set', 'd=e', 'file'], { set: { type: 'string', multiple: true } })).to.deep.equal({ values: { __proto__: null, set: ['a.b=c', 'd=e'] }, positionals: ['file'] })
    expect(parseSettings(['a=b=c', 'd='])).to.deep.equal({ a: 'b=c', d: '' })
    expect(() => parseSettings(['a'])).to.throw(/no setting/)
  })

  it('names near options', () => {
    expect(() => parseArguments(['--prot', '1'], { port: { type: 'string' } })).to.throw(/--prot.*Did you mean --port\?/)
    expect(() => parseArguments(['--zzzzzz'], { port: { type: 'string' } })).to.throw(/zzzzzz'\.$/)
    expect(() => parseArguments(['--port'], { port: { type: 'string' } })).to.throw(/--port/)
  })

  it('orders near names by distance', () => { expect(nearest('serve', ['solve', 'serve', 'server', 'x'])).to.deep.equal(['serve', 'server', 'solve']) })
})
