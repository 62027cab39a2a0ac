import { expect } from 'chai'
import { parseDotenv } from '../../../lib/configuration/dotenv.ts'
import { parseYml } from '../../../lib/configuration/yml.ts'

describe('configuration/yml', () => {
  it('flattens maps, lists, quoted segments, null keys and profiles', () => {
    const text = `
quarkus:
  rest-client:
    acme.yml:
      url: http://x
  http:
    port: 0x1F
    cors:
      ~: true
      origins: [a, "b,c"]
sonatina.http.root-path: /x
"%dev":
  sonatina:
    store: memory
    empty:
`
    expect(Object.fromEntries(parseYml(text).entries.map(({ key, value, line }) => [key, [value, line]]))).to.deep.equal({
      'quarkus.rest-client.acme.yml.url': ['http://x', 5],
      'quarkus.http.port': ['0x1F', 7],
      'quarkus.http.cors': ['true', 9],
      'quarkus.http.cors.origins': ['a,b\\,c', 10],
      'sonatina.http.root-path': ['/x', 11],
      '%dev.sonatina.store': ['memory', 14],
      '%dev.sonatina.empty': ['', 15],
    })
  })

  it('gives no entries for an empty or scalar document', () => {
    for (const text of ['', '---', '# nothing', 'just text']) expect(parseYml(text).entries).to.deep.equal([])
  })

  it('refuses to nest without end', () => {
    for (const text of ['['.repeat(2000), '- '.repeat(2000), 'a: {b: '.repeat(200_000)]) {
      expect(parseYml(text)).to.deep.equal({ entries: [], warnings: [], problem: { message: 'nests deeper than 200 levels', line: 1 } })
    }
  })

  it('names the line of what is not YAML', () => {
    expect(parseYml('a: 1\nb: "x').problem?.line).to.equal(2)
  })
})

describe('configuration/dotenv', () => {
  it('reads names, quotes, export and comments, and keeps what it skips to itself', () => {
    const { entries, warnings } = parseDotenv('# c\nA=1 # note\nexport B="x\\ny # z"\nC=\'$raw\'\n\nsecret stuff\nsonatina.http.port=1\nD=a#b')
    expect(entries).to.deep.equal([
      { key: 'A', value: '1', line: 2 }, { key: 'B', value: 'x\ny # z', line: 3 }, { key: 'C', value: '$raw', line: 4 },
      { key: 'sonatina.http.port', value: '1', line: 7 }, { key: 'D', value: 'a#b', line: 8 },
    ])
    expect(warnings).to.deep.equal(['line 6 is not NAME=value and is ignored'])
  })
})
