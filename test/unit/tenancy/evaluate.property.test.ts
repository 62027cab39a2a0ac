import { expect } from 'chai'
import fc from 'fast-check'
import type { Call } from '../../../lib/tenancy/call.ts'
import { createEvaluator } from '../../../lib/tenancy/evaluate.ts'
import type { AuthorizationPolicy, Condition, Operation, Rule, Source } from '../../../lib/tenancy/types.ts'
import { decideByWords } from './support/brute-force.ts'

// Small alphabets, so that random policies and random calls meet.
const namespace = fc.constantFrom('a', 'b', 'ab', 'istio-system')
const namespacePattern = fc.oneof(namespace, fc.constantFrom('a*', '*b', '*', 'a*b'))
const host = fc.constantFrom('x.a', 'x.b', 'X.A', 'x.a:80', 'x.a.svc')
const hostPattern = fc.oneof(host, fc.constantFrom('*.a', 'x.*', '*', '*.A'))
const path = fc.constantFrom('/', '/a/x', '/b/x', '/a', '/a/x?q=/b')
const pathPattern = fc.oneof(fc.constantFrom('/a/x', '/a'), fc.constantFrom('/a/*', '*/x', '*'))
const address = fc.constantFrom('10.0.0.1', '10.0.1.1', '192.168.0.7')
const block = fc.oneof(address, fc.constantFrom('10.0.0.0/24', '10.0.0.0/8', '0.0.0.0/0'))
const port = fc.constantFrom('80', '8022')
const method = fc.constantFrom('GET', 'POST', 'PUT')
const principal = fc.constantFrom('cluster.local/ns/a/sa/s', 'cluster.local/ns/b/sa/t', 'cluster.local/ns/a/*', '*/sa/s', '*', 'td/ns/a/sa/s')
const token = fc.constantFrom('iss/sub', 'iss/*', '*/sub', '*')
const headerValue = fc.constantFrom('a', 'b', 'a,b')

function some<Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> {
  return fc.array(values, { minLength: 1, maxLength: 3 })
}

/** Objects with at least one field. */
function withFields<Fields extends object>(fields: { [Key in keyof Fields]-?: fc.Arbitrary<NonNullable<Fields[Key]>> }): fc.Arbitrary<Fields> {
  return fc.record(fields, { requiredKeys: [] }).filter((value) => Object.keys(value).length > 0) as fc.Arbitrary<Fields>
}

const source = fc.oneof(
  { weight: 4, arbitrary: withFields<Omit<Source, 'serviceAccounts' | 'notServiceAccounts'>>({
    principals: some(principal), notPrincipals: some(principal),
    namespaces: some(namespacePattern), notNamespaces: some(namespacePattern),
    requestPrincipals: some(token), notRequestPrincipals: some(token),
    trustDomains: some(fc.constantFrom('cluster.local', 't*')), notTrustDomains: some(fc.constantFrom('td', 'cluster*')),
    ipBlocks: some(block), notIpBlocks: some(block), remoteIpBlocks: some(block), notRemoteIpBlocks: some(block),
  }) },
  { weight: 1, arbitrary: withFields<Pick<Source, 'serviceAccounts' | 'notServiceAccounts'>>({
    serviceAccounts: some(fc.constantFrom('s', 'a/s', 'b/t')), notServiceAccounts: some(fc.constantFrom('t', 'a/s')),
  }) },
)
const operation = withFields<Operation>({
  hosts: some(hostPattern), notHosts: some(hostPattern), ports: some(port), notPorts: some(port),
  methods: some(method), notMethods: some(method), paths: some(pathPattern), notPaths: some(pathPattern),
})
function condition(key: string, values: fc.Arbitrary<string>): fc.Arbitrary<Condition> {
  return withFields<Omit<Condition, 'key'>>({ values: some(values), notValues: some(values) }).map((fields) => ({ key, ...fields }))
}
const when = fc.oneof(
  condition('request.headers[Kn-Namespace]', fc.oneof(headerValue, fc.constantFrom('*', 'a*'))),
  condition('source.ip', block), condition('remote.ip', block), condition('source.namespace', namespacePattern),
  condition('source.principal', principal), condition('destination.port', port), condition('request.auth.principal', token),
  condition('connection.sni', fc.constantFrom('x.a', '*.a', '*')),
)
const rule: fc.Arbitrary<Rule> = fc.record({
  from: fc.array(source, { minLength: 1, maxLength: 2 }).map((all) => all.map((each) => ({ source: each }))),
  to: fc.array(operation, { minLength: 1, maxLength: 2 }).map((all) => all.map((each) => ({ operation: each }))),
  when: fc.array(when, { minLength: 1, maxLength: 2 }),
}, { requiredKeys: [] })
const policy: fc.Arbitrary<AuthorizationPolicy> = fc.record({
  namespace,
  action: fc.constantFrom('ALLOW', 'ALLOW', 'DENY', 'AUDIT', undefined),
  labels: fc.constantFrom(undefined, { app: 'w' }, { app: 'other' }, {}),
  rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
}).map(({ namespace: home, action, labels, rules }): AuthorizationPolicy => ({
  apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'p', namespace: home },
  spec: { ...(action === undefined ? {} : { action }), ...(labels === undefined ? {} : { selector: { matchLabels: labels } }), rules },
}))
const call: fc.Arbitrary<Call> = fc.record({
  peer: fc.option(fc.tuple(fc.constantFrom('cluster.local', 'td'), namespace, fc.constantFrom('s', 't')).map(([domain, home, account]) => `spiffe://${domain}/ns/${home}/sa/${account}`), { nil: undefined }),
  home: fc.constantFrom('a', 'b'), port: fc.constantFrom(80, 8022), protocol: fc.constantFrom('http' as const, 'http' as const, 'tcp' as const),
  authority: host, path, method, sourceIp: address, remoteIp: fc.option(address, { nil: undefined }), sni: fc.constantFrom(undefined, 'x.a', 'y.b'),
  headers: fc.array(fc.tuple(fc.constantFrom('Kn-Namespace', 'kn-namespace', 'Other'), headerValue), { maxLength: 2 }),
  claims: fc.constantFrom(undefined, { iss: 'iss', sub: 'sub' }, { iss: 'iss', sub: 'other' }, { iss: 7 }),
}).map(({ peer, home, port: at, protocol, authority, path: target, method: verb, sourceIp, remoteIp, sni, headers, claims }): Call => ({
  protocol, destination: { namespace: home, labels: { app: 'w', tier: '1' }, port: at }, sourceIp,
  ...(peer === undefined ? {} : { peer }), ...(remoteIp === undefined ? {} : { remoteIp }), ...(sni === undefined ? {} : { sni }),
  ...(protocol === 'tcp' ? {} : { authority, path: target, method: verb, headers, ...(claims === undefined ? {} : { claims }) }),
}))

describe('tenancy/evaluate, random policies', () => {
  it('agrees with an evaluator that follows the words of the specification', () => {
    const seen = { allow: 0, deny: 0 }
    fc.assert(fc.property(fc.array(policy, { maxLength: 4 }), fc.array(call, { minLength: 20, maxLength: 20 }), (policies, calls) => {
      const evaluator = createEvaluator(policies)
      for (const each of calls) {
        const wanted = decideByWords(policies, each)
        seen[wanted] += 1
        expect(evaluator.evaluate(each).decision, JSON.stringify(each)).to.equal(wanted)
        expect(evaluator.workload(each.destination).decide(each).outcome).to.equal(wanted)
      }
    }), { numRuns: 600 })
    // Neither decision may be so rare that agreeing means nothing.
    expect(Math.min(seen.allow, seen.deny)).to.be.greaterThan(1000)
  })

  it('decides the same whatever the order of the documents', () => {
    fc.assert(fc.property(fc.array(policy, { minLength: 2, maxLength: 5 }).chain((policies) => fc.tuple(fc.constant(policies), fc.shuffledSubarray(policies, { minLength: policies.length }))), call,
      ([policies, shuffled], each) => {
        expect(createEvaluator(shuffled).evaluate(each).decision).to.equal(createEvaluator(policies).evaluate(each).decision)
      }), { numRuns: 500 })
  })

  it('names a rule that matches when it allows or denies by one', () => {
    fc.assert(fc.property(fc.array(policy, { maxLength: 4 }), call, (policies, each) => {
      const { decision, document, because } = createEvaluator(policies).evaluate(each)
      if (document === undefined) return
      expect(because[0]).to.include({ document, matched: true, action: decision === 'allow' ? 'ALLOW' : 'DENY' })
    }), { numRuns: 500 })
  })
})
