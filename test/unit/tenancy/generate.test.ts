import { expect } from 'chai'
import fc from 'fast-check'
import { audit } from '../../../lib/tenancy/audit.ts'
import { createEvaluator } from '../../../lib/tenancy/evaluate.ts'
import { generateTenant } from '../../../lib/tenancy/generate.ts'
import { resolveInputs, resolveValues } from '../../../lib/tenancy/inputs.ts'
import { createProbes, localName } from '../../../lib/tenancy/probes.ts'
import { generateMesh, generateSystem } from '../../../lib/tenancy/system.ts'
import { documentName } from '../../../lib/tenancy/types.ts'
import { validateDocument } from '../../../lib/tenancy/validate.ts'
import { documentsOf, TWO_TENANTS } from './support/tenants.ts'

const ALPHA = { name: 'team-alpha', namespaces: ['team-alpha-1', 'team-alpha-2'] }

describe('tenancy/generate', () => {
  it('makes as many documents as the chart: 13, 12, 12, 11, 5 and 11', () => {
    const count = (value: unknown, chartVersion = 'main'): number => {
      const { tenants, values } = resolveInputs(value, 'test', { chartVersion })
      return tenants.flatMap((tenant) => generateTenant(tenant, values)).length
    }
    expect([
      count(ALPHA), count(ALPHA, '1.31'), count(ALPHA, '1.35'),
      count({ ...ALPHA, serving: { enabled: false } }), count({ ...ALPHA, eventing: { enabled: false } }), count({ name: 'solo', namespaces: ['only'] }),
    ]).to.deep.equal([13, 12, 12, 11, 5, 11])
  })

  it('names them in the chart\'s order', () => {
    const { tenants, values } = resolveInputs(ALPHA, 'test')
    expect(generateTenant(tenants[0]!, values).map(documentName)).to.deep.equal([
      'team-alpha-1/allow-from-knative-and-istio',
      'team-alpha-2/allow-from-knative-and-istio',
      'knative-serving/allow-team-alpha-to-activator',
      'knative-eventing/allow-team-alpha-kafka-broker-reply',
      'knative-eventing/allow-team-alpha-mt-channel-based-broker-reply',
      ...['imc', 'ekb', 'ekc', 'eks', 'broker-ingress', 'job-sink'].map((short) => `knative-eventing/allow-team-alpha-to-${short}`),
      'team-alpha-1/allow-wait-for-drain',
      'team-alpha-2/allow-wait-for-drain',
    ])
  })

  it('takes domain, trust domain and mesh namespace from the values', () => {
    const { documents } = documentsOf({ ...ALPHA, istioNamespace: 'mesh', cluster: { domain: 'corp.example' }, trustDomain: 'corp.td' })
    const text = JSON.stringify(documents)
    expect(text).to.include('*.team-alpha-1.svc.corp.example').and.include('corp.td/ns/knative-eventing/sa/imc-dispatcher').and.include('"mesh"')
    expect(text).to.not.include('cluster.local').and.not.include('istio-system')
  })

  it('makes the system documents once: two deny-all, four broker, three probe, two serving', () => {
    const names = generateSystem(resolveValues({}, 'test')).map(({ metadata }) => metadata.name)
    const starting = (prefix: string): number => names.filter((name) => name.startsWith(prefix)).length
    expect([names.length, starting('deny-all'), starting('allow-probe'), starting('allow-traffic')]).to.deep.equal([11, 2, 3, 2])
  })

  it('makes mutual TLS strict for Istio, and lists the members for OpenShift', () => {
    const { tenants, values } = resolveInputs(TWO_TENANTS, 'test')
    expect(generateMesh('istio', values, tenants)[0]).to.deep.include({ kind: 'PeerAuthentication', spec: { mtls: { mode: 'STRICT' } } })
    expect(generateMesh('openshift', values, tenants)[0]).to.deep.include({
      kind: 'ServiceMeshMemberRoll',
      spec: { members: ['knative-serving', 'knative-eventing', 'team-alpha-1', 'team-alpha-2', 'team-bravo-1', 'team-bravo-2'] },
    })
  })

  it('makes documents that validate, strict ones too', () => {
    for (const strict of [false, true]) {
      for (const document of documentsOf(TWO_TENANTS, { strict }).documents) expect(validateDocument(document), documentName(document)).to.deep.equal([])
    }
  })
})

describe('tenancy/generate, random tenants', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/)
  const tenants = fc.uniqueArray(label, { minLength: 4, maxLength: 9 }).chain((labels) => fc.integer({ min: 1, max: labels.length - 3 }).map((cut) => ({
    tenants: [
      { name: labels[0]!, namespaces: labels.slice(2, 2 + cut) },
      { name: labels[1]!, namespaces: labels.slice(2 + cut) },
    ],
  }))).filter(({ tenants: all }) => all.every(({ namespaces }) => namespaces.length > 0 && namespaces.every((namespace) => !/^(kube|openshift)-/.test(namespace))))

  it('let no tenant reach another\'s workload, broker or channel without a finding that explains it', () => {
    fc.assert(fc.property(tenants, fc.nat(), fc.constantFrom('GET', 'POST'), fc.boolean(), (value, dice, method, strict) => {
      const { inputs, documents } = documentsOf(value, { strict })
      const evaluator = createEvaluator(documents)
      const probes = createProbes(inputs.values)
      const [one, two] = inputs.tenants as [typeof inputs.tenants[number], typeof inputs.tenants[number]]
      const target = two.namespaces[dice % two.namespaces.length]!
      const own = one.namespaces[dice % one.namespaces.length]!
      const peer = probes.identity(own, 'default')
      const calls = [
        probes.toWorkload(peer, target, { method }),
        probes.toWorkload(peer, target, { method, headers: [['Kn-Namespace', target]] }),
        probes.toActivator(peer, target, { method }),
        ...['broker-ingress', 'kafka-broker-receiver', 'kafka-sink-receiver', 'job-sink'].map((component) => probes.toReceiver(peer, component, { method, path: `/${target}/default` })),
        ...['imc-dispatcher', 'kafka-channel-receiver'].map((component) => probes.toReceiver(peer, component, { method, authority: localName(target, inputs.values) })),
      ]
      for (const call of calls) expect(evaluator.evaluate(call).decision, JSON.stringify(call)).to.equal('deny')
      const codes = new Set(audit(documents, { inputs }).map(({ code }) => code))
      const gaps = {
        HOST_PATH_OR: probes.toReceiver(peer, 'broker-ingress', { authority: localName(own, inputs.values), path: `/${target}/default` }),
        ACTIVATOR_HEADERS: probes.toActivator(peer, own, { headers: [['Knative-Serving-Namespace', target]] }),
      } as const
      for (const [code, call] of Object.entries(gaps)) expect(evaluator.evaluate(call).decision === 'allow', code).to.equal(codes.has(code as 'HOST_PATH_OR'))
    }), { numRuns: 60 })
  })

  it('decide a tenant\'s calls the same when another tenant is added', () => {
    fc.assert(fc.property(tenants, fc.boolean(), (value, strict) => {
      const { inputs, documents } = documentsOf(value, { strict })
      const [one] = inputs.tenants
      const alone = createEvaluator(documentsOf({ tenants: [value.tenants[0]] }, { strict }).documents)
      const both = createEvaluator(documents)
      const probes = createProbes(inputs.values)
      for (const peer of [probes.identityOf(one!), probes.gateway, probes.identity('knative-eventing', 'imc-dispatcher'), undefined]) {
        for (const namespace of one!.namespaces) {
          for (const call of [
            probes.toWorkload(peer, namespace, { headers: [['Kn-Namespace', namespace]] }),
            probes.toActivator(peer, namespace),
            probes.toReceiver(peer, 'broker-ingress', { path: `/${namespace}/default` }),
            probes.toReceiver(peer, 'imc-dispatcher', { authority: localName(namespace, inputs.values) }),
          ]) expect(both.evaluate(call).decision).to.equal(alone.evaluate(call).decision)
        }
      }
    }), { numRuns: 60 })
  })
})
