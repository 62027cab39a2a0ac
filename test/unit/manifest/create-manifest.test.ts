import { readFile, writeFile } from 'node:fs/promises'
import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'
import { ConfigurationError } from '../../../lib/errors/index.ts'
import { createManifest, readProject, renderManifest, type KubernetesDocument, type ManifestOptions, type Project } from '../../../lib/manifest/index.ts'
import { schemaFaults, unknownFields } from './schemas.ts'

const IMAGE = 'registry.example.org/sonatina:0.1.0'

interface Case {
  readonly project: 'rates' | 'orders'
  readonly options?: Partial<ManifestOptions>
}

/** By the name of the approved file. */
const CASES: Readonly<Record<string, Case>> = {
  'memory': { project: 'rates', options: { namespace: 'flows', replicas: 3 } },
  'memory-istio': { project: 'rates', options: { istio: true, embedded: true } },
  'sqlite': { project: 'orders', options: { storageSize: '5Gi' } },
  'sqlite-eventing': { project: 'orders', options: { eventing: true, broker: 'shop', embedded: true } },
  'knative': { project: 'rates', options: { knative: true, namespace: 'flows' } },
  'restate': { project: 'orders', options: { storage: 'restate', replicas: 2, namespace: 'flows', eventing: true } },
  'knative-restate': { project: 'orders', options: { knative: true, storage: 'restate', embedded: true } },
  'knative-events': { project: 'orders', options: { knative: true, storage: 'memory' } },
}

const project = (name: string): Promise<Project> => readProject({ root: `test/fixtures/manifest/${name}` })
const distributed = (name: string): Promise<Project> => readProject({ root: `test/fixtures/manifest/${name}`, arguments: ['sonatina.restate.ingress-url=http://restate:8080'] })

async function manifestOf({ project: name, options }: Case): Promise<ReturnType<typeof createManifest>> {
  return createManifest(await (options?.storage === 'restate' ? distributed : project)(name), { image: IMAGE, ...options })
}

function find(documents: readonly KubernetesDocument[], kind: string): KubernetesDocument {
  const found = documents.find((document) => document.kind === kind)
  if (found === undefined) throw new Error(`there is no ${kind}`)
  return found
}

describe('manifest: documents of a project', () => {
  for (const [name, each] of Object.entries(CASES)) {
    it(`gives the approved documents: ${name}`, async () => {
      const text = renderManifest(await manifestOf(each))
      const file = `test/golden/manifest/${name}.yaml`
      if (process.env['UPDATE_GOLDEN'] === '1' && process.env['CI'] === undefined) await writeFile(file, text)
      expect(text).to.equal(await readFile(file, 'utf8'))
      expect(renderManifest(await manifestOf(each)), 'the second time').to.equal(text)
    })

    it(`is read the same by YAML 1.1 and 1.2: ${name}`, async () => {
      const manifest = await manifestOf(each)
      for (const version of ['1.1', '1.2'] as const) {
        expect(parseAllDocuments(renderManifest(manifest), { version }).map((document) => document.toJS() as unknown)).to.deep.equal(manifest.documents)
      }
    })
  }

  it('fits the schemas of Kubernetes and Knative, without fields that they do not know', async () => {
    const documents = (await Promise.all(Object.values(CASES).map(manifestOf))).flatMap((manifest) => manifest.documents)
    expect(schemaFaults(documents)).to.deep.equal([])
    expect(unknownFields(documents)).to.deep.equal([])
  }).timeout(60_000)

  it('would find faults: the checks are not blind', () => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' }, spec: { ports: [{ port: '80', nodeprot: 1 }] } }
    expect(schemaFaults([service]).join()).to.contain('/spec/ports/0/port must be integer')
    expect(unknownFields([{ ...service, spec: { ports: [{ port: 80, nodeprot: 1 }] } }]).join()).to.match(/known properties.*nodeprot/)
  }).timeout(60_000)

  it('never holds a secret', async () => {
    for (const each of Object.values(CASES)) expect(renderManifest(await manifestOf(each))).not.to.contain('swordfish')
  })

  it('selects what it labels, and serves where it listens', async () => {
    for (const name of ['memory', 'sqlite'] as const) {
      const { documents } = await manifestOf(CASES[name]!)
      const spec = (find(documents, name === 'memory' ? 'Deployment' : 'StatefulSet') as unknown as Workload).spec
      const service = find(documents, 'Service') as unknown as Service
      expect(spec.template.metadata.labels).to.include(spec.selector.matchLabels).and.to.include(service.spec.selector)
      const ports = spec.template.spec.containers[0]!.ports.map((port) => port.name)
      expect(ports).to.include.members(service.spec.ports.map(({ targetPort }) => targetPort))
    }
  })

  it('refuses what does not fit', async () => {
    const orders = await project('orders')
    const refusals: readonly (readonly [Partial<ManifestOptions>, string])[] = [
      [{ replicas: 2 }, '2 replicas do not fit the storage sqlite'],
      [{ knative: true }, 'instances of audit, order wait'],
      [{ knative: true, storage: 'sqlite' }, '--knative does not fit the storage sqlite'],
      [{ storage: 'restate' }, 'sonatina.restate.ingress-url'],
      [{ name: 'Orders_1' }, '"Orders_1" is no name'],
      [{ namespace: 'a.b' }, '"a.b" is no namespace'],
      [{ broker: '' }, '"" is no name of a broker'],
      [{ image: 'a b' }, '"a b" is no image'],
      [{ replicas: 0 }, '0 replicas are not possible'],
      [{ storageSize: 'big' }, '"big" is no size'],
    ]
    for (const [options, message] of refusals) {
      expect(() => createManifest(orders, { image: IMAGE, ...options }), message).to.throw(ConfigurationError, message)
    }
  })

  it('says what is lost in memory', async () => {
    const { warnings } = createManifest(await project('orders'), { image: IMAGE, storage: 'memory', replicas: 2 })
    expect(warnings.join('\n')).to.contain('instances of audit, order wait in the memory').and.to.contain('known to the process that started it only')
  })

  it('refuses a project that is too large for a ConfigMap, and keys stay apart', async () => {
    const rates = await project('rates')
    const files = [{ path: 'a/b', text: '1' }, { path: 'a__b', text: '2' }, { path: 'ä', text: '3' }, { path: '_', text: '4' }]
    const { data } = find(createManifest({ ...rates, files }, { image: IMAGE }).documents, 'ConfigMap') as unknown as { data: Record<string, string> }
    expect(data).to.deep.equal({ 'a__b': '1', 'a__b.2': '2', '_': '3', '_.2': '4' })
    const large = { ...rates, files: [{ path: 'a', text: 'x'.repeat(1_048_577) }] }
    expect(() => createManifest(large, { image: IMAGE })).to.throw(ConfigurationError, '--embedded')
  })

  it('takes names of directories that are no names', async () => {
    const rates = await project('rates')
    const names = ['My Project', '0', 'ä', 'x'.repeat(80)].map((name) => find(createManifest({ ...rates, name }, { image: IMAGE }).documents, 'Service').metadata['name'])
    expect(names).to.deep.equal(['my-project', 'sonatina', 'sonatina', 'x'.repeat(40)])
  })
})

interface Workload {
  readonly spec: {
    readonly selector: { readonly matchLabels: Record<string, string> }
    readonly template: { readonly metadata: { readonly labels: Record<string, string> }; readonly spec: { readonly containers: readonly { readonly ports: readonly { readonly name: string }[] }[] } }
  }
}

interface Service {
  readonly spec: { readonly selector: Record<string, string>; readonly ports: readonly { readonly targetPort: string }[] }
}
