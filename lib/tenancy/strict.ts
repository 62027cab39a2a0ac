import { EVENTING_NAMESPACE, SERVING_NAMESPACE, type ResolvedValues, type Tenant } from './inputs.ts'
import type { AuthorizationPolicy, Rule } from './types.ts'

/** Receivers that read the tenant from the path. */
export const PATH_RECEIVERS: ReadonlySet<string> = new Set(['broker-ingress', 'kafka-broker-receiver', 'kafka-sink-receiver', 'job-sink'])
/** Receivers that read the tenant from the host. */
export const HOST_RECEIVERS: ReadonlySet<string> = new Set(['imc-dispatcher', 'kafka-channel-receiver'])

/** Every way in which strict documents differ from the chart's; the header of the output lists them (tenancy.md, section 5). */
export const STRICT_CHANGES: readonly string[] = [
  'deny-gateway-to-local-names: the gateway may not use cluster-local names, plain or with port 80, 443 or 8080 (closes GATEWAY_IDENTITY); check first that no domain mapping rewrites public names to local ones',
  'receivers: paths only for broker-ingress, kafka-broker-receiver, kafka-sink-receiver and job-sink, hosts only for imc-dispatcher and kafka-channel-receiver (closes HOST_PATH_OR)',
  'receivers: methods POST and OPTIONS (closes NO_METHODS)',
  'allow-wait-for-drain: GET /wait-for-drain only (narrows DRAIN_OPEN)',
  `rule of ${EVENTING_NAMESPACE} in tenant namespaces: the senders' identities only (closes SYSTEM_IDENTITY_WIDE)`,
  'deny-…-foreign-revisions: a tenant may not name the revision of another in headers to the activator (closes ACTIVATOR_HEADERS)',
]

// A pattern has one wildcard end, so `*.ns:*` cannot be written; these are the ports that services of Knative have.
const LOCAL_PORTS = ['', ':80', ':443', ':8080']

/**
 * Makes the policies that deny the ingress gateway the tenant's cluster-local names: one a namespace, one for each serving receiver.
 *
 * @param hosts names of the tenant's services, as patterns
 */
export function denyGatewayToLocalNames(tenant: Tenant, values: ResolvedValues, hosts: readonly string[]): AuthorizationPolicy[] {
  if (!values.serving.enabled) return []
  const rules: Rule[] = [{
    from: [{ source: { namespaces: [values.istioNamespace] } }],
    to: [{ operation: { hosts: hosts.flatMap((host) => LOCAL_PORTS.map((port) => host + port)) } }],
  }]
  return [
    ...tenant.namespaces.map((namespace) => denyPolicy({ namespace, name: 'deny-gateway-to-local-names' }, rules)),
    ...values.serving.receivers.map(({ name, shortName }) =>
      denyPolicy({ namespace: SERVING_NAMESPACE, name: `deny-${tenant.name}-gateway-to-local-names-at-${shortName}`, component: name }, rules)),
  ]
}

/** Makes the policies that deny a tenant the headers by which the activator would route to another tenant's revision. */
export function denyForeignRevisions(tenant: Tenant, values: ResolvedValues): AuthorizationPolicy[] {
  if (!values.serving.enabled) return []
  const { namespaces } = tenant
  const rules: Rule[] = [{
    from: [{ source: { namespaces } }],
    // Without `values` an absent header, which is none of the namespaces either, would be denied too.
    when: [{ key: 'request.headers[Knative-Serving-Namespace]', values: ['*'], notValues: namespaces }],
  }]
  return values.serving.receivers.map(({ name, shortName }) =>
    denyPolicy({ namespace: SERVING_NAMESPACE, name: `deny-${tenant.name}-foreign-revisions-at-${shortName}`, component: name }, rules))
}

function denyPolicy({ namespace, name, component }: { namespace: string; name: string; component?: string }, rules: readonly Rule[]): AuthorizationPolicy {
  return {
    apiVersion: 'security.istio.io/v1beta1',
    kind: 'AuthorizationPolicy',
    metadata: { name, namespace },
    spec: {
      action: 'DENY',
      ...(component === undefined ? {} : { selector: { matchLabels: { 'app.kubernetes.io/component': component } } }),
      rules,
    },
  }
}
