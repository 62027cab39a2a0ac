import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { defaultCorpus, isFolder, missingCorpusLine } from '../../corpus.ts'
import { countCases, countMissing, renderSuite } from '../../suite-result.ts'
import { CaseClock } from '../case-clock.ts'
import { assertKnown, loadCases, type CaseFile } from '../case-file.ts'
import { missingNeeds } from '../capabilities.ts'
import { findHostFunction } from '../host-functions.ts'
import { createHostSide } from '../host-side.ts'
import { knativeSettings } from '../knative.ts'
import { originPlaceholders, profileOf, readChannels, withoutRemark } from '../settings.ts'
import { applyPatch } from '../simulate/patch.ts'
import { continuationTargets, declaredFunctions, startState } from '../simulate/documents.ts'

function caseFile(more: Partial<CaseFile>): CaseFile {
  return { id: 'c', group: 'sonataflow', kind: 'http', feature: 'f', oracle: 'derived', source: ['s'], definitions: ['d'], needs: [], steps: [], ...more }
}

describe('conformance: case files', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'corpus-'))
    await mkdir(join(folder, 'workflows/g/cases'), { recursive: true })
    await writeFile(join(folder, 'workflows/g/cases/one.yaml'), 'id: one\ngroup: g\nkind: load\nfeature: f\noracle: none\nsource: [s]\ndefinitions: [d]\nsteps: []\nneeds: []\n')
    await writeFile(join(folder, 'workflows/g/cases/two.yaml'), 'id: other\ngroup: g\nkind: load\nfeature: f\noracle: none\nsource: [s]\ndefinitions: [d]\nsteps: []\nneeds: []\n')
    await writeFile(join(folder, 'workflows/g/cases/three.yaml'), 'id: [\n')
    await writeFile(join(folder, 'workflows/g/cases/four.yaml'), 'id: four\ngroup: g\nkind: load\nmagic: true\n')
    await writeFile(join(folder, 'workflows/g/cases/five.yaml'), 'id: five\ngroup: g\nkind: load\n')
    await writeFile(join(folder, 'workflows/host-functions.mjs'), 'export default { "x:y": () => "own" }\n')
  })
  after(() => rm(folder, { recursive: true }))

  it('are read; a broken one has a fault and the others are read all the same', async () => {
    const cases = await loadCases(folder)
    expect(cases.map(({ key, fault }) => [key, fault?.split(/[;:"]/)[0]])).to.deep.equal([
      ['g/five', 'the case lacks feature, oracle, source, definitions, needs, steps'],
      ['g/four', 'the case has properties that this runner does not know'],
      ['g/one', undefined], ['g/three', 'the case is not YAML'], ['g/two', 'id is '],
    ])
  })

  it('take host functions of the corpus before those of the runner', async () => {
    const custom = { operation: 'x:y', name: 'z', behaviour: '' }
    const host = await createHostSide({ key: 'g/c', folder: join(folder, 'workflows/g'), file: caseFile({ customFunctions: [custom] }) })
    const call = host.options(caseFile({})).functionTypes!.get('x')!
    expect(call('y', { data: {}, context: {} } as never)).to.deep.equal({ output: 'own' })
    expect(host.calls).to.deep.equal([{ name: 'z', data: {} }])
    expect(() => call('q', { data: {}, context: {} } as never)).to.throw('unknown operation q')
  })

  it('with a host function that nobody implements say which', () => {
    expect(() => findHostFunction({ operation: 'service:A::b', name: 'b', behaviour: '' }, {})).to.throw('service:A::b')
  })

  it('with an unknown property or need are refused', () => {
    expect(() => { assertKnown({ a: 1, b: 2 }, ['a'], 'x') }).to.throw('b')
    expect(() => missingNeeds(['jq', 'magic'])).to.throw('magic')
    expect(missingNeeds(['jq', 'camel'])).to.deep.equal(['camel'])
  })

  it('of the corpus all fit the format', async function () {
    const corpus = defaultCorpus()
    if (!await isFolder(corpus)) {
      process.stdout.write(`${missingCorpusLine(corpus, 1)}\n`)
      this.skip()
    }
    const cases = await loadCases(corpus)
    expect(cases.length).to.be.greaterThan(300)
    expect(cases.filter(({ fault }) => fault !== undefined).map(({ key, fault }) => `${key}: ${fault ?? ''}`)).to.deep.equal([])
  })

  it('of the corpus find every host function that they ask for and may run', async function () {
    const corpus = defaultCorpus()
    if (!await isFolder(corpus)) this.skip()
    for (const { file } of await loadCases(corpus)) {
      if (missingNeeds(file.needs).length === 0) for (const custom of file.customFunctions ?? []) findHostFunction(custom, {})
    }
  })
})

describe('conformance: settings of a case', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'settings-'))
    await writeFile(join(folder, 'a.properties'), [
      'quarkus.rest-client.x.url=${x-mock.url}', 'a=${keycloak.mock.url}', 'p=${keycloak.mock.service.token-path}', 'q=${keycloak.mock.exchange-service.token-path}',
      'other=${other}', 'mp.messaging.incoming.visa.topic=visa_topic', 'mp.messaging.incoming.move.path=/move',
      'mp.messaging.outgoing.kogito_outgoing_stream.topic=all', 'mp.messaging.outgoing."a-b".connector=x',
    ].join('\n'))
  })
  after(() => rm(folder, { recursive: true }))

  it('choose the language profile by group', () => {
    expect(['sonataflow', 'sonataflow-examples', 'spec-0.8'].map(profileOf)).to.deep.equal(['sonataflow', 'sonataflow', 'spec'])
  })

  it('lose the remark behind a value', () => {
    expect(withoutRemark('${mock} (address discovered; manifest x)')).to.equal('${mock}')
    expect(withoutRemark('a b')).to.equal('a b')
    expect(withoutRemark(5)).to.equal(5)
  })

  it('fill placeholders that the test set-up of the origin fills', async () => {
    const mocks = ['/realms/t/token', '/realms/exchange-t/token'].map((path) => ({ method: 'POST', path, response: {} }))
    const found = await originPlaceholders(caseFile({ properties: ['a.properties'], mocks }), folder, { main: 'http://m', named: new Map([['keycloak', 'http://k']]) })
    expect(found).to.deep.equal({
      'x-mock.url': 'http://m', 'keycloak.mock.url': 'http://k',
      'keycloak.mock.service.token-path': '/realms/t/token', 'keycloak.mock.exchange-service.token-path': '/realms/exchange-t/token',
    })
  })

  it('declare channels by name and topic', async () => {
    const channels = await readChannels(caseFile({ properties: ['a.properties'] }), folder, { 'mp.messaging.incoming.visa.path': '/v' })
    expect([...channels.incoming]).to.deep.equal([['visa', '/v'], ['visa_topic', '/v'], ['move', '/move']])
    expect([...channels.outgoing]).to.deep.equal(['all', 'a-b'])
  })

  it('give Knative services an address', () => {
    const settings = knativeSettings(caseFile({ config: { 'knative service a/b/c': 'x' } }), ['"knative:v1/ns/name?path=/p"'], 'http://m')
    expect(Object.values(settings)).to.deep.equal(['http://m', 'http://m'])
  })
})

describe('conformance: patches', () => {
  it('add, remove, replace and move, without touching the original', () => {
    const document = { a: [1, 2], b: { 'x/y': 1 } }
    expect(applyPatch(document, [
      { op: 'add', path: '/a/-', value: 3, why: 'because' },
      { op: 'add', path: '/a/0', value: 0 },
      { op: 'remove', path: '/b/x~1y' },
      { op: 'replace', path: '/a/1', value: 'one' },
      { op: 'move', from: '/a', path: '/c' },
    ])).to.deep.equal({ b: {}, c: [0, 'one', 2, 3] })
    expect(document).to.deep.equal({ a: [1, 2], b: { 'x/y': 1 } })
  })

  it('say what does not fit', () => {
    expect(() => applyPatch({}, [{ op: 'remove', path: '/a' }])).to.throw('/a')
    expect(() => applyPatch({}, [{ op: 'replace', path: '/a', value: 1 }])).to.throw('/a')
    expect(() => applyPatch({}, [{ op: 'add', path: '/a/b', value: 1 }])).to.throw('/a/b')
    expect(() => applyPatch({ a: [] }, [{ op: 'add', path: '/a/2', value: 1 }])).to.throw('/a/2')
    expect(() => applyPatch({}, [{ op: 'test', path: '', value: 1 }])).to.throw('test')
  })
})

describe('conformance: documents', () => {
  const document = {
    start: { stateName: 'W' }, functions: [{ name: 'f', operation: 'o' }, { name: 'e', type: 'expression', operation: '.' }],
    states: [{ name: 'A', type: 'inject', end: { continueAs: { workflowId: 'w2', version: '2' } } }, { name: 'W', type: 'event', end: { continueAs: 'w3' } }],
  }

  it('tell functions, continuations and the starting state', () => {
    expect(declaredFunctions([document, {}]).map(({ name, type }) => [name, type])).to.deep.equal([['f', 'rest'], ['e', 'expression']])
    expect(continuationTargets(document)).to.deep.equal([{ workflowId: 'w2', version: '2' }, { workflowId: 'w3' }])
    expect(startState(document)).to.deep.equal({ name: 'W', byEvent: true })
    expect(startState({ states: document.states })).to.deep.equal({ name: 'A', byEvent: false })
  })
})

describe('conformance: clock of a case', () => {
  it('moves timer by timer and lets each settle', async () => {
    const time = new CaseClock('2026-01-01T00:00:00Z')
    const seen: number[] = []
    const again = (): void => {
      seen.push(time.elapsed)
      time.clock.at(time.clock.now() + 400, again)
    }
    time.clock.at(time.start + 400, again)
    let settled = 0
    await time.advance(1000, () => {
      settled++
      return Promise.resolve()
    })
    expect(seen).to.deep.equal([400, 800])
    expect([time.elapsed, settled]).to.deep.equal([1000, 4])
  })
})

describe('conformance: report', () => {
  const result = { suite: 's', cases: [
    { id: 'a', feature: 'x', outcome: 'passed' as const },
    { id: 'b', feature: 'x', outcome: 'failed' as const, reason: 'one\ntwo' },
    { id: 'c', feature: 'y', outcome: 'skipped' as const, missing: ['n', 'm'] },
    { id: 'd', feature: 'y', outcome: 'contested' as const, reason: 'decided' },
  ] }

  it('counts, and ends with the counts', () => {
    expect(countCases(result)).to.deep.equal({ passed: 1, failed: 1, skipped: 2 })
    expect(countMissing(result)).to.deep.equal({ m: 1, n: 1 })
    expect(renderSuite(result)).to.match(/\ns: 1 passed, 1 failed, 2 skipped\n$/)
  })

  it('shows each failure with its reason and the line that repeats it, and why cases are contested', () => {
    const text = renderSuite(result)
    expect(text).to.contain('  b: one\n    two\n    repeat: npm run conformance -- --suite s --case b\n')
    expect(text).to.contain('  d: decided')
    expect(text).to.contain('  m: 1\n  n: 1')
  })
})
