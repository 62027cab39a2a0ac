import { expect } from 'chai'
import { createEnforcer, DENIED_BODY } from '../../../lib/tenancy/enforce.ts'
import { decider, documentsOf, TWO_TENANTS } from './support/tenants.ts'

describe('tenancy, the rules of the requirement', () => {
  const { documents } = documentsOf(TWO_TENANTS)
  const decide = decider(documents)
  const gateway = 'istio-system/istio-ingressgateway-service-account'

  it('rule 1: a workload of one tenant does not reach a workload of another directly', () => {
    expect(decide('team-alpha-1/default', 'team-bravo-1|webapp|8012', 'GET test-webapp.team-bravo-1 /')).to.equal('deny')
    expect(decide('team-bravo-2/builder', 'team-alpha-2|webapp|8012', 'POST test-webapp.team-alpha-2.svc.cluster.local /orders')).to.equal('deny')
    expect(decide('team-bravo-1/default', 'team-alpha-1|app=postgres|5432', 'tcp')).to.equal('deny')
  })

  it('rule 2: nor through the gateway by the cluster-local name, as far as the caller keeps its identity', () => {
    expect(decide('team-bravo-1/default', 'team-alpha-1|webapp|8012', 'GET test-webapp.team-alpha-1.svc.cluster.local / X-Forwarded-For: 10.128.0.7')).to.equal('deny')
  })

  it('rule 2, disputed: what arrives with the identity of the gateway is let in, and denied with strict documents', () => {
    const call = [gateway, 'team-alpha-1|webapp|8012', 'GET test-webapp.team-alpha-1.svc.cluster.local /'] as const
    expect(decide(...call)).to.equal('allow')
    expect(decider(documentsOf(TWO_TENANTS, { strict: true }).documents)(...call)).to.equal('deny')
  })

  it('rule 3: nor through the activator', () => {
    expect(decide('team-alpha-1/default', 'knative-serving|activator|8012', 'GET test-webapp.team-bravo-1.svc.cluster.local /')).to.equal('deny')
    for (const host of ['test-webapp.team-alpha-2', 'test-webapp.team-alpha-2.svc', 'test-webapp.team-alpha-2.svc.cluster.local']) {
      expect(decide('team-alpha-1/default', 'knative-serving|activator|8012', `GET ${host} /`), host).to.equal('allow')
    }
    expect(decide('knative-serving/activator', 'team-alpha-1|webapp|8012', 'GET test-webapp.team-alpha-1 /')).to.equal('allow')
  })

  it('rule 4: components of the platform are closed unless a rule opens them', () => {
    expect(decide('team-alpha-1/default', 'knative-serving|app=controller|8443', 'POST controller.knative-serving /')).to.equal('deny')
    expect(decide('team-alpha-1/default', 'knative-eventing|filter|8080', 'POST broker-filter.knative-eventing /triggers/team-alpha-1/t/uid')).to.equal('deny')
    expect(decide(gateway, 'knative-eventing|ingress|8080', 'POST broker.apps.example.com /team-alpha-1/default')).to.equal('deny')
  })

  it('rule 5: workloads of one tenant reach each other in all its namespaces, and public addresses answer', () => {
    expect(decide('team-alpha-1/default', 'team-alpha-1|webapp|8012', 'GET test-webapp.team-alpha-1 /')).to.equal('allow')
    expect(decide('team-alpha-2/default', 'team-alpha-1|webapp|8012', 'GET test-webapp.team-alpha-1.svc.cluster.local /')).to.equal('allow')
    expect(decide('team-alpha-2/default', 'team-alpha-1|app=postgres|5432', 'tcp')).to.equal('allow')
    expect(decide(gateway, 'team-bravo-1|webapp|8012', 'GET test-webapp-team-bravo-1.apps.example.com /')).to.equal('allow')
  })

  it('rule 6: a tenant sends events to its own brokers, channels and sinks only', () => {
    for (const component of ['ingress', 'ekb', 'eks', 'jobs']) {
      const to = `knative-eventing|${component}|8080`
      expect(decide('team-alpha-1/default', to, 'POST x.knative-eventing /team-alpha-2/default'), component).to.equal('allow')
      expect(decide('team-alpha-1/default', to, 'POST x.knative-eventing /team-bravo-1/default'), component).to.equal('deny')
    }
    for (const component of ['imc', 'ekc']) {
      const to = `knative-eventing|${component}|8080`
      expect(decide('team-alpha-1/default', to, 'POST ch-kn-channel.team-alpha-2.svc.cluster.local /'), component).to.equal('allow')
      expect(decide('team-alpha-1/default', to, 'POST ch-kn-channel.team-bravo-1.svc.cluster.local /'), component).to.equal('deny')
    }
  })

  it('rule 7: events are delivered to the tenant that they are sent for', () => {
    const sender = 'knative-eventing/mt-broker-filter'
    const deliver = (header: string): string => decide(sender, 'team-alpha-1|webapp|8012', `POST test-webapp.team-alpha-1.svc.cluster.local / Kn-Namespace: ${header}`)
    expect([deliver('team-alpha-1'), deliver('team-alpha-2'), deliver('team-bravo-1'), deliver('Team-Alpha-1')]).to.deep.equal(['allow', 'allow', 'deny', 'deny'])
    expect(decide(sender, 'knative-eventing|ingress|8080', 'POST x.knative-eventing /team-alpha-1/default Kn-Namespace: team-bravo-1')).to.equal('deny')
  })

  it('rule 8: a denied call is answered 403 with exactly 19 bytes', async () => {
    const { middleware } = createEnforcer({ documents, workload: { namespace: 'team-alpha-1', labels: {}, port: 8012 } })
    const headers: Record<string, string> = {}
    const socket = { authorized: true, getPeerX509Certificate: () => ({ subjectAltName: 'URI:spiffe://cluster.local/ns/team-bravo-1/sa/default' }) }
    const context = {
      req: { method: 'GET', url: '/', rawHeaders: ['Host', 'test-webapp.team-alpha-1'], headers: {}, headersDistinct: {}, socket },
      url: '/', status: 404, body: undefined as unknown, set: (name: string, value: string) => { headers[name] = value },
    }
    await middleware(context, () => Promise.reject(new TypeError('must not be reached')))
    expect([context.status, context.body, Buffer.byteLength(DENIED_BODY)]).to.deep.equal([403, 'RBAC: access denied', 19])
    expect(headers).to.deep.equal({ 'Content-Type': 'text/plain' })
  })

  it('rule 11: the pre-stop hook is reached without a certificate, and only its port', () => {
    expect(decide('-', 'team-alpha-1|webapp|8022', 'GET 10.130.0.11 /wait-for-drain')).to.equal('allow')
    expect(decide('-', 'team-alpha-1|webapp|8012', 'GET 10.130.0.11 /wait-for-drain')).to.equal('deny')
  })
})
