import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { printConfig } from '../../../../lib/cli/commands/config.ts'

describe('sonatina config', () => {
  let cwd: string
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'sonatina-config-'))
    await writeFile(join(cwd, 'application.properties'), 'quarkus.http.port=81\nsonatina.oidc-client.a.credentials.secret=marked-file\n')
    await writeFile(join(cwd, '.env'), 'SONATINA_HTTP_PORT=82\n')
  })
  after(() => rm(cwd, { recursive: true }))

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const [out, err]: [string[], string[]] = [[], []]
    const io = { out: (line: string) => { out.push(line) }, err: (line: string) => { err.push(line) }, read: () => Promise.resolve(''), cwd, stopped: () => Promise.resolve('SIGTERM') }
    return { code: await printConfig(args, io, { SONATINA_OIDC_CLIENT_A_CREDENTIALS_SECRET: 'marked-env' }), out: out.join('\n'), err: err.join('\n') }
  }

  it('prints settings with source, spelling and what they override, never a secret', async () => {
    const { code, out, err } = await run('--set', 'sonatina.http.host=::1', '-Dsonatina.http.tpyo=1')
    expect(code).to.equal(0)
    expect(out).to.contain('# configuration profile prod, language profile sonataflow')
    expect(out).to.contain('sonatina.http.port=82  # .env:1 as SONATINA_HTTP_PORT\n  overrides quarkus.http.port=81  # application.properties:1')
    expect(out).to.contain('sonatina.http.host=::1  # command line')
    expect(out).to.contain('sonatina.oidc-client.a.credentials.secret=***  # environment as SONATINA_OIDC_CLIENT_A_CREDENTIALS_SECRET')
    expect(err).to.contain('warn: sonatina.http.tpyo (command line) is not a known setting')
    expect(out + err).not.to.contain('marked')
  })

  it('explains one key', async () => {
    const { out } = await run('--explain', 'sonatina.oidc-client.a.credentials.secret')
    expect(out.split('\n')[0]).to.equal('environment: SONATINA_OIDC_CLIENT_A_CREDENTIALS_SECRET = ***')
    expect(out).to.contain('application.properties:2: sonatina.oidc-client.a.credentials.secret = ***').and.not.to.contain('marked')
  })

  it('prints JSON', async () => {
    const reports = JSON.parse((await run('--json')).out) as { key: string; value: string }[]
    expect(reports.find(({ key }) => key === 'sonatina.http.port')?.value).to.equal('82')
  })

  it('fails with wrong settings after printing them, with --strict-config on warnings, and on wrong arguments', async () => {
    const { code, out, err } = await run('--set', 'sonatina.http.port=x')
    expect([code, out.includes('sonatina.http.host='), err]).to.deep.equal([1, true, 'error: sonatina.http.port=x (command line) is not a whole number from 0 to 65535'])
    expect((await run('--set', 'sonatina.tpyo=1', '--strict-config')).code).to.equal(1)
    let caught: unknown
    try { await run('--explian', 'x') } catch (error) { caught = error }
    expect((caught as Error).message).to.contain('--explain')
  })
})
