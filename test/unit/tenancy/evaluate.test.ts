import { expect } from 'chai'
import type { JsonObject } from '../../../lib/common/index.ts'
import type { Call } from '../../../lib/tenancy/call.ts'
import { createEvaluator, evaluate, type EvaluatorOptions } from '../../../lib/tenancy/evaluate.ts'

const policy = (spec: object, metadata: object = {}): object => ({ apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'p', namespace: 'n', ...metadata }, spec })
const http = (more: Partial<Call> = {}): Call => ({ protocol: 'http', method: 'GET', authority: 'a.n', path: '/', destination: { namespace: 'n', labels: { app: 'a' }, port: 80 }, ...more })
const decide = (policies: object[], call: Call, options: EvaluatorOptions = {}): string => evaluate(policies, call, options).decision
const allows = (rule: object, call: Call): boolean => decide([policy({ rules: [rule] })], call) === 'allow'
const when = (key: string, ...values: string[]): object => ({ when: [{ key, values }] })

describe('tenancy/evaluate', () => {
  it('allows what no policy selects, and what only AUDIT policies select', () => {
    expect(decide([], http())).to.equal('allow')
    expect(decide([policy({ selector: { matchLabels: { app: 'b' } } })], http())).to.equal('allow')
    expect(decide([policy({ action: 'AUDIT', rules: [{}] })], http())).to.equal('allow')
    expect(decide([policy({}, { namespace: 'other' })], http())).to.equal('allow')
  })

  it('applies policies of the root namespace everywhere', () => {
    expect(decide([policy({}, { namespace: 'istio-system' })], http())).to.equal('deny')
    expect(decide([policy({}, { namespace: 'root' })], http(), { rootNamespace: 'root' })).to.equal('deny')
  })

  it('leaves out dry runs and policies of gateways, and says so', () => {
    const evaluator = createEvaluator([
      policy({}, { name: 'dry', annotations: { 'istio.io/dry-run': 'true' } }),
      policy({ targetRefs: [{ kind: 'Gateway', name: 'g' }] }, { name: 'attached' }),
      policy({}, { name: 'wet', namespace: 'x', annotations: { 'istio.io/dry-run': 'false' } }),
    ])
    expect(evaluator.evaluate(http()).decision).to.equal('allow')
    expect(evaluator.ignored.map(({ document, reason }) => `${document}: ${reason}`)).to.deep.equal(['n/dry: it is a dry run', 'n/attached: it is attached to a gateway or service, not to workloads'])
  })

  it('asks CUSTOM, then DENY, then ALLOW; without an answer nothing is silently allowed', () => {
    const custom = policy({ action: 'CUSTOM', provider: { name: 'opa' }, rules: [{ to: [{ operation: { paths: ['/ask'] } }] }] }, { name: 'custom' })
    const deny = policy({ action: 'DENY', rules: [{ to: [{ operation: { methods: ['PUT'] } }] }] }, { name: 'deny' })
    const allow = policy({ rules: [{ to: [{ operation: { methods: ['GET', 'PUT'] } }] }] }, { name: 'allow' })
    const all = [allow, custom, deny]
    expect(evaluate(all, http({ path: '/ask' }))).to.include({ decision: 'undecided', document: 'n/custom', provider: 'opa' })
    expect(decide(all, http({ path: '/ask' }), { external: () => 'allow' })).to.equal('allow')
    expect(decide(all, http({ path: '/ask' }), { external: () => 'deny' })).to.equal('deny')
    expect(evaluate(all, http({ path: '/ask', method: 'PUT' }))).to.include({ decision: 'deny', document: 'n/deny' })
    expect(decide(all, http({ path: '/ask', method: 'POST' }))).to.equal('deny')
    expect(decide(all, http())).to.equal('allow')
    const second = policy({ action: 'CUSTOM', provider: { name: 'other' }, rules: [{}] }, { name: 'second' })
    expect(decide([...all, second], http(), { external: () => 'allow' })).to.equal('deny')
  })

  it('matches a rule without conditions always, and a policy without rules never', () => {
    expect(decide([policy({})], http())).to.equal('deny')
    expect(decide([policy({ rules: [] })], http())).to.equal('deny')
    expect(allows({}, http())).to.equal(true)
    expect(decide([policy({ action: 'DENY', rules: [{}] })], http())).to.equal('deny')
  })

  it('lets negative fields match a caller without a certificate, and positive ones not', () => {
    expect(allows({ from: [{ source: { namespaces: ['*'] } }] }, http())).to.equal(false)
    expect(allows({ from: [{ source: { notNamespaces: ['x'] } }] }, http())).to.equal(true)
    expect(decide([policy({ action: 'DENY', rules: [{ from: [{ source: { notPrincipals: ['*'] } }] }] })], http())).to.equal('deny')
  })

  it('reads hosts without case and with their port', () => {
    const rule = { to: [{ operation: { hosts: ['*.Ns', 'exact.com', 'prefix.*'] } }] }
    const host = (authority: string): boolean => allows(rule, http({ authority }))
    expect(['svc.ns', 'SVC.NS', 'svc.ns:8080', 'svc.ns.', 'ns', 'EXACT.com', 'exact.com:80', 'prefix.anything:1'].map(host)).to.deep.equal([true, true, false, false, false, true, false, true])
  })

  it('joins repeated headers by a comma, in their order', () => {
    const headers = (...values: string[]): Call => http({ headers: values.map((value) => ['X-A', value]) })
    expect(allows(when('request.headers[x-a]', 'one,two'), headers('one', 'two'))).to.equal(true)
    expect(allows(when('request.headers[x-a]', 'two'), headers('one', 'two'))).to.equal(false)
    expect(allows(when('request.headers[x-a]', '*'), headers(''))).to.equal(true)
    expect(allows(when('request.headers[x-a]', '*'), http())).to.equal(false)
    expect(allows({ when: [{ key: 'request.headers[x-a]', notValues: ['one'] }] }, http())).to.equal(true)
    expect(allows(when('request.headers[:method]', 'GET'), http())).to.equal(true)
    expect(allows(when('request.headers[host]', 'a.n'), http())).to.equal(true)
  })

  it('reads claims, texts and lists alike, nested ones too', () => {
    const claims = (payload: JsonObject): Call => http({ claims: payload })
    expect(allows(when('request.auth.claims[group]', 'dev'), claims({ group: ['ops', 'dev'] }))).to.equal(true)
    expect(allows(when('request.auth.claims[a][b]', 'c*'), claims({ a: { b: 'cd' } }))).to.equal(true)
    expect(allows(when('request.auth.claims[group]', '7'), claims({ group: 7 }))).to.equal(false)
    expect(allows(when('request.auth.audiences', 'x'), claims({ aud: 'x' }))).to.equal(true)
    expect(allows(when('request.auth.claims[toString]', '*'), claims({}))).to.equal(false)
  })

  it('reads dynamic metadata', () => {
    const metadata = (value: JsonObject[string]): Call => http({ metadata: { 'envoy.filters.a': { key: value } } })
    expect(allows(when('experimental.envoy.filters.a[key]', 'v'), metadata('v'))).to.equal(true)
    expect(allows(when('experimental.envoy.filters.a[key]', '[v]'), metadata(['u', 'v']))).to.equal(true)
    expect(allows(when('experimental.envoy.filters.a[key]', 'v'), metadata(['v']))).to.equal(false)
    expect(allows(when('experimental.envoy.filters.a[key]', 'v'), http())).to.equal(false)
  })

  it('reads service accounts in the policy\'s namespace unless they name their own', () => {
    const rule = { from: [{ source: { serviceAccounts: ['one', 'other/two'] } }] }
    const peer = (uri: string): boolean => allows(rule, http({ peer: uri }))
    expect(['spiffe://td/ns/n/sa/one', 'spiffe://td/ns/x/sa/one', 'spiffe://td/ns/other/sa/two', 'spiffe://td/ns/n/sa/one-more'].map(peer)).to.deep.equal([true, false, true, false])
  })

  it('drops ALLOW rules that ask for HTTP on a plain connection, and widens DENY rules', () => {
    const tcp: Call = { protocol: 'tcp', destination: { namespace: 'n', labels: {}, port: 5432 } }
    const rule = { to: [{ operation: { ports: ['5432'], methods: ['GET'] } }] }
    const allowed = evaluate([policy({ rules: [rule] })], tcp)
    expect(allowed.decision).to.equal('deny')
    expect(allowed.because[0]).to.include({ rule: 0, matched: false, note: 'the rule asks for HTTP and is left out on this connection' })
    expect(decide([policy({ action: 'DENY', rules: [rule] })], tcp)).to.equal('deny')
    expect(decide([policy({ action: 'DENY', rules: [rule] })], { ...tcp, destination: { ...tcp.destination, port: 80 } })).to.equal('allow')
  })

  it('names every field with what it said', () => {
    const decision = evaluate([policy({ rules: [{ from: [{ source: { namespaces: ['x'] } }], to: [{ operation: { methods: ['GET'], notPorts: ['1'] } }] }] })], http())
    expect(decision.because).to.deep.equal([{
      document: 'n/p', action: 'ALLOW', rule: 0, matched: false,
      fields: [
        { pointer: '/from/0/source/namespaces', matched: false },
        { pointer: '/to/0/operation/methods', matched: true },
        { pointer: '/to/0/operation/notPorts', matched: true },
      ],
    }])
  })

  it('counts an empty list as an absent field', () => {
    expect(allows({ from: [{ source: { namespaces: [], principals: ['*'] } }] }, http({ peer: 'spiffe://td/ns/x/sa/y' }))).to.equal(true)
  })
})
