import { expect } from 'chai'
import { evalCommand } from '../../../../lib/cli/commands/eval.ts'

/** Runs the command; gives its exit code and what it wrote. */
async function run(args: readonly string[], input = ''): Promise<{ code: number; out: string[]; err: string[] }> {
  const out: string[] = []
  const err: string[] = []
  const code = await evalCommand(args, {
    out: (line) => { out.push(line) },
    err: (line) => { err.push(line) },
    read: () => Promise.resolve(input),
    cwd: '.',
    stopped: () => Promise.resolve('SIGINT'),
  })
  return { code, out, err }
}

describe('sonatina eval', () => {
  it('prints each output on a line', async () => {
    expect(await run(['.[]', '--input', '-'], '[1, "x"]')).to.deep.equal({ code: 0, out: ['1', '"x"'], err: [] })
    expect((await run(['.[]', '--input', '-', '--raw'], '["x"]')).out).to.deep.equal(['x'])
  })

  it('knows the three languages and variables', async () => {
    expect((await run(['${ .a + $x }', '--input', '-', '--var', 'x=2'], '{"a": 1}')).out).to.deep.equal(['3'])
    expect((await run(['a & "!"', '--lang', 'jsonata', '--input', '-'], '{"a": "b"}')).out).to.deep.equal(['"b!"'])
    expect((await run(['$.a', '--lang', 'jsonpath', '--input', '-'], '{"a": 1}')).out).to.deep.equal(['1'])
    expect((await run(['$SECRET.k', '--secret', 'k=v'])).out).to.deep.equal(['"v"'])
  })

  it('shows what is wrong with a caret and exits with 1', async () => {
    const { code, out, err } = await run(['.a = = 1'])
    expect({ code, out }).to.deep.equal({ code: 1, out: [] })
    expect(err.join('\n')).to.include('\n       ^ line 1, column 6: unexpected "="; for equality write ==')
  })

  it('prints what came before a failure', async () => {
    const { code, out, err } = await run(['1, error("late")'])
    expect({ code, out }).to.deep.equal({ code: 1, out: ['1'] })
    expect(err.join('\n')).to.include('late')
  })

  it('refuses wrong calls', async () => {
    for (const args of [[], ['.', '--lang', 'xpath'], ['.', '--input', 'no-such-file.json'], ['.', '--input', '-'], ['.', 'more']]) {
      const failure: unknown = await run(args, 'no json').catch((error: unknown) => error)
      expect(failure, args.join(' ')).to.be.an.instanceOf(Error).with.property('code', 'REQUEST_INVALID')
    }
    for (const [option, message] of [['--var', '"x" is no variable. Write --var NAME=JSON.'], ['--secret', '"x" is no secret. Write --secret KEY=TEXT.']] as const) {
      expect(await run(['.', option, 'x']).catch((error: unknown) => error), option).to.have.property('message', message)
    }
  })
})
