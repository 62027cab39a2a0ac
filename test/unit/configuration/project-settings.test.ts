import { expect } from 'chai'
import fc from 'fast-check'
import { readProjectSettings, type ProjectSettings } from '../../../lib/configuration/index.ts'
import { escapeProperty, parseProperties } from '../../../lib/configuration/properties.ts'
import { ConfigurationError } from '../../../lib/errors/index.ts'

function read(files: Readonly<Record<string, string>>, options: { profile?: string; arguments?: readonly string[] } = {}): Promise<ProjectSettings> {
  return readProjectSettings({ root: '/p', readFile: (path) => Promise.resolve(files[path.slice('/p/'.length)]), ...options })
}

describe('settings of a project', () => {
  it('holds what counts, without comments, in the spelling of the files', async () => {
    const { text, variables } = await read({
      'application.properties': '# password is swordfish\nquarkus.http.port=8081\nsonatina.rest-client.a_yml.url=http://a\nmy.own=1\nempty=\n',
      'config/application.properties': 'sonatina.rest-client.a_yml.url = http://b\n',
    })
    expect(text).to.equal('my.own=1\nquarkus.http.port=8081\nsonatina.rest-client.a_yml.url=http://b\n')
    expect(variables).to.deep.equal([])
  })

  it('keeps the entries of the chosen profile only, under their plain key', async () => {
    const files = { 'application.properties': 'a=1\n%dev.a=2\n%prod.a=3\n%dev.client.secret=x\n' }
    expect((await read(files)).text).to.equal('a=3\n')
    expect((await read(files, { profile: 'dev' })).variables).to.deep.equal(['CLIENT_SECRET'])
    expect((await read({ 'application.properties': 'sonatina.config-profile=dev\na=1\n%dev.a=2\n' })).text).to.contain('a=2\n')
  })

  it('puts a reference in the place of every secret and names its variable', async () => {
    const { text, variables, writtenSecrets } = await read({
      'application.properties': [
        'quarkus.oidc-client."acme-oauth".credentials.client-secret.value=swordfish-1',
        'sonatina.security.users.embedded.users.jane=swordfish-2',
        'sonatina.rest-client.a_yml.headers.Authorization=Bearer swordfish-3',
        'sonatina.rest-client.a_yml.headers.X-Api-Key=swordfish-4',
        'sonatina.rest-client.b_yml.url=https://me:swordfish-5@b.example.org',
        'other.password=${GIVEN:swordfish-6}',
        'mixed.password=prefix-${PASSWORD}',
      ].join('\n'),
    })
    expect(text).not.to.contain('swordfish').and.not.to.contain('prefix')
    expect(text).to.contain('quarkus.oidc-client."acme-oauth".credentials.client-secret.value=${SONATINA_OIDC_CLIENT_ACME_OAUTH_CREDENTIALS_CLIENT_SECRET_VALUE}\n')
    expect(variables).to.deep.equal([
      'MIXED_PASSWORD',
      'OTHER_PASSWORD',
      'SONATINA_OIDC_CLIENT_ACME_OAUTH_CREDENTIALS_CLIENT_SECRET_VALUE',
      'SONATINA_REST_CLIENT_A_YML_HEADERS_AUTHORIZATION',
      'SONATINA_REST_CLIENT_A_YML_HEADERS_X_API_KEY',
      'SONATINA_REST_CLIENT_B_YML_URL',
      'SONATINA_SECURITY_USERS_EMBEDDED_USERS_JANE',
    ])
    expect(writtenSecrets).to.have.length(7)
  })

  it('asks for the variables that values refer to, unless a setting or a default gives them', async () => {
    const { text, variables, writtenSecrets } = await read({
      'application.properties': 'host=a\nurl=http://${host}:${PORT_A:80}/${PATH_A}\nx.secret=${X_SECRET}\nnested=${ONE:${TWO}}\nliteral=\\${NOT}\n',
    })
    expect(variables).to.deep.equal(['PATH_A', 'TWO', 'X_SECRET'])
    expect(text).to.contain('x.secret=${X_SECRET}\n').and.to.contain('literal=\\${NOT}\n')
    expect(writtenSecrets).to.deep.equal([])
  })

  it('lets arguments win, and reads YAML', async () => {
    expect((await read({ 'application.yml': 'a:\n  b: 1\n' }, { arguments: ['a.b=2', 'c=3'] })).text).to.equal('a.b=2\nc=3\n')
  })

  it('refuses files that are none', async () => {
    const caught = await read({ 'application.yml': 'a: [' }).catch((error: unknown) => error)
    expect(caught).to.be.instanceOf(ConfigurationError)
    expect((caught as Error).message).to.contain('application.yml:1 is not YAML')
  })

  it('writes lines that are read back as they were', () => {
    const key = fc.string({ minLength: 1, unit: 'binary-ascii' }).filter((text) => text.trim() === text && !/\\[$,]/.test(text) && /^[^\0-\x1f\x7f]+$/.test(text))
    fc.assert(fc.property(key, fc.string({ unit: 'grapheme' }), (name, given) => {
      const value = given.trim()
      expect(parseProperties(`${escapeProperty(name, value)}\n`).entries).to.deep.equal([{ key: name, value, line: 1 }])
    }))
  })

  it('is read back by itself with the same result', async () => {
    const first = await read({ 'application.properties': 'a=x\\\\y\nb=\\${c}\nd=1\\,2,3\n"q.r".s=t\n%prod.e=\\u0041\n' })
    const second = await read({ 'application.properties': first.text })
    expect(second.text).to.equal(first.text)
  })
})
