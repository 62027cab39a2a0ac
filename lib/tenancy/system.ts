import { allowPolicy, eventingSource } from './generate.ts'
import { EVENTING_NAMESPACE, SERVING_NAMESPACE, type ResolvedValues, type Tenant } from './inputs.ts'
import type { AuthorizationPolicy, PeerAuthentication, ServiceMeshMemberRoll } from './types.ts'

/** The mesh whose documents are wanted beside the policies. */
export type MeshKind = 'istio' | 'openshift'

/** A component of Knative Eventing that calls another. */
interface Connection {
  readonly name: string
  readonly account: string
  readonly component: string
  readonly method: string
}

const CONNECTIONS: readonly Connection[] = ([
  ['allow-mt-channel-based-broker-ingress-to-imc-dispatcher', 'mt-broker-ingress', 'imc-dispatcher'],
  ['allow-mt-channel-based-broker-ingress-to-kafka-channel', 'mt-broker-ingress', 'kafka-channel-receiver'],
  ['allow-kafka-channel-to-mt-channel-based-broker-filter', 'knative-kafka-channel-data-plane', 'broker-filter'],
  ['allow-imc-to-mt-channel-based-broker-filter', 'imc-dispatcher', 'broker-filter'],
] as const).map(([name, account, component]) => ({ name, account, component, method: 'POST' }))

/**
 * Generates the documents that a cluster needs once: default deny, Knative's own traffic, probes (tenancy.md, section 2).
 */
export function generateSystem(values: ResolvedValues): AuthorizationPolicy[] {
  return [
    denyAll(EVENTING_NAMESPACE),
    denyAll(SERVING_NAMESPACE),
    ...CONNECTIONS.map((connection) => betweenComponents(connection, values)),
    ...['kafka-broker-receiver', 'kafka-sink-receiver', 'kafka-channel-receiver'].map((component) =>
      betweenComponents({ name: `allow-probe-${component}`, account: 'kafka-controller', component, method: 'GET' }, values)),
    toServingComponent('activator', [SERVING_NAMESPACE, values.istioNamespace]),
    toServingComponent('autoscaler', [SERVING_NAMESPACE]),
  ]
}

/** An ALLOW policy without rules matches nothing, and its being there ends "allow what no policy selects". */
function denyAll(namespace: string): AuthorizationPolicy {
  return { apiVersion: 'security.istio.io/v1beta1', kind: 'AuthorizationPolicy', metadata: { name: 'deny-all-by-default', namespace }, spec: {} }
}

function betweenComponents({ name, account, component, method }: Connection, values: ResolvedValues): AuthorizationPolicy {
  return allowPolicy({ namespace: EVENTING_NAMESPACE, name, component }, [{
    from: [{ source: eventingSource(values, [account]) }],
    to: [{ operation: { methods: [method] } }],
  }])
}

function toServingComponent(app: string, namespaces: readonly string[]): AuthorizationPolicy {
  return {
    apiVersion: 'security.istio.io/v1beta1',
    kind: 'AuthorizationPolicy',
    metadata: { name: `allow-traffic-to-${app}`, namespace: SERVING_NAMESPACE },
    spec: { action: 'ALLOW', selector: { matchLabels: { app } }, rules: [{ from: [{ source: { namespaces } }] }] },
  }
}

/**
 * Generates what makes the mesh ask for certificates: mutual TLS for all of it, or OpenShift's member list.
 *
 * The control plane of OpenShift needs `security.dataPlane.mtls: true` besides.
 */
export function generateMesh(kind: MeshKind, values: ResolvedValues, tenants: readonly Tenant[]): (PeerAuthentication | ServiceMeshMemberRoll)[] {
  if (kind === 'istio') {
    const metadata = { name: 'default', namespace: values.istioNamespace }
    return [{ apiVersion: 'security.istio.io/v1beta1', kind: 'PeerAuthentication', metadata, spec: { mtls: { mode: 'STRICT' } } }]
  }
  const members = [SERVING_NAMESPACE, EVENTING_NAMESPACE, ...tenants.flatMap(({ namespaces }) => namespaces)]
  return [{ apiVersion: 'maistra.io/v1', kind: 'ServiceMeshMemberRoll', metadata: { name: 'default', namespace: values.istioNamespace }, spec: { members } }]
}
