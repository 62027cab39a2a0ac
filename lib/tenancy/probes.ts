import type { Call } from './call.ts'
import { EVENTING_NAMESPACE, SERVING_NAMESPACE, type ResolvedValues, type Tenant } from './inputs.ts'

/** Makes calls of the kinds that matter for tenants, to ask documents about. */
export interface Probes {
  /** The identity of a tenant's workload. */
  readonly identityOf: (tenant: Tenant) => string
  /** The identity of any service account. */
  readonly identity: (namespace: string, serviceAccount: string) => string
  /** The identity that calls through the ingress gateway arrive with. */
  readonly gateway: string
  /** A request to a tenant's workload. */
  readonly toWorkload: (peer: string | undefined, namespace: string, change?: Partial<Call>) => Call
  /** A request to the activator for a service of a namespace. */
  readonly toActivator: (peer: string | undefined, namespace: string, change?: Partial<Call>) => Call
  /** A request to a component of Knative Eventing. */
  readonly toReceiver: (peer: string | undefined, component: string, change: Partial<Call>) => Call
}

/** Creates the probes for a platform's values. */
export function createProbes(values: ResolvedValues): Probes {
  const identity = (namespace: string, account: string): string => `spiffe://${values.trustDomain}/ns/${namespace}/sa/${account}`
  const request = (peer: string | undefined, destination: Call['destination'], change: Partial<Call>): Call => ({
    protocol: 'http',
    method: 'GET',
    path: '/',
    destination,
    ...(peer === undefined ? {} : { peer }),
    ...change,
  })
  return {
    identity,
    identityOf: ({ namespaces }) => identity(namespaces[0] ?? '', 'default'),
    gateway: identity(values.istioNamespace, 'istio-ingressgateway-service-account'),
    toWorkload: (peer, namespace, change = {}) => request(peer, { namespace, labels: { 'serving.knative.dev/service': 'probe' }, port: 8012 },
      { authority: localName(namespace, values), ...change }),
    toActivator: (peer, namespace, change = {}) => request(peer,
      { namespace: SERVING_NAMESPACE, labels: { app: 'activator', 'app.kubernetes.io/component': 'activator' }, port: 8012 },
      { authority: localName(namespace, values), ...change }),
    toReceiver: (peer, component, change) => request(peer,
      { namespace: EVENTING_NAMESPACE, labels: { 'app.kubernetes.io/component': component }, port: 8080 },
      { method: 'POST', authority: `${component}.${EVENTING_NAMESPACE}.svc.${values.clusterDomain}`, ...change }),
  }
}

/** The cluster-local name of a service in a namespace. */
export function localName(namespace: string, values: ResolvedValues): string {
  return `probe.${namespace}.svc.${values.clusterDomain}`
}
