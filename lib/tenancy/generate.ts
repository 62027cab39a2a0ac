import { EVENTING_NAMESPACE, SERVING_NAMESPACE, type Component, type ResolvedValues, type Tenant } from './inputs.ts'
import { denyForeignRevisions, denyGatewayToLocalNames, HOST_RECEIVERS, PATH_RECEIVERS } from './strict.ts'
import type { AuthorizationPolicy, Condition, Operation, Rule, Source } from './types.ts'

/** What may be changed about the documents of the chart. */
export interface GenerateOptions {
  /** Closes the gaps that `audit` reports, at the price of documents that differ from the chart's. @default false */
  readonly strict?: boolean
}

/** Parts that several documents of a tenant share. */
interface Parts {
  readonly tenant: Tenant
  readonly values: ResolvedValues
  readonly isStrict: boolean
  /** NS, the tenant's namespaces. */
  readonly own: Source
  /** Senders of knative-eventing. */
  readonly senders: Source
  /** H, names of the tenant's services. */
  readonly hosts: readonly string[]
  /** P, paths of the tenant's brokers and sinks. */
  readonly paths: readonly string[]
  /** K, the header that tells for whom knative-eventing sends. */
  readonly sentForOwn: readonly Condition[]
}

/** Name of a policy and the workloads that it is for. */
export interface PolicyPlace {
  readonly namespace: string
  readonly name: string
  readonly component?: string
}

const COMPONENT_LABEL = 'app.kubernetes.io/component'

/**
 * Generates the documents of one tenant: `2·N + 9` for N namespaces, in the chart's order (tenancy.md, section 3).
 *
 * @example
 * const { tenants, values } = resolveInputs({ name: 'team-a', namespaces: ['team-a-1'] }, 'options')
 * generateTenant(tenants[0], values).length // => 11
 */
export function generateTenant(tenant: Tenant, values: ResolvedValues, options: GenerateOptions = {}): AuthorizationPolicy[] {
  const parts = toParts(tenant, values, options.strict ?? false)
  const { serving, eventing } = values
  return [
    ...tenant.namespaces.map((namespace) => fromKnativeAndIstio(namespace, parts)),
    ...serving.receivers.map((receiver) => toServingReceiver(receiver, parts)),
    ...(eventing.enabled ? [kafkaBrokerReply(parts), channelBrokerReply(parts)] : []),
    ...(eventing.enabled ? eventing.receivers.map((receiver) => toEventingReceiver(receiver, parts)) : []),
    ...(serving.enabled ? tenant.namespaces.map((namespace) => waitForDrain(namespace, parts)) : []),
    ...(parts.isStrict ? denyGatewayToLocalNames(tenant, values, parts.hosts) : []),
    ...(parts.isStrict ? denyForeignRevisions(tenant, values) : []),
  ]
}

function toParts(tenant: Tenant, values: ResolvedValues, isStrict: boolean): Parts {
  const { namespaces } = tenant
  return {
    tenant,
    values,
    isStrict,
    own: { namespaces },
    senders: eventingSource(values, values.eventing.senders.map(({ name }) => name)),
    hosts: namespaces.flatMap((namespace) => [`*.${namespace}`, `*.${namespace}.svc`, `*.${namespace}.svc.${values.clusterDomain}`]),
    paths: namespaces.map((namespace) => `/${namespace}/*`),
    sentForOwn: [{ key: 'request.headers[Kn-Namespace]', values: namespaces }],
  }
}

/** Makes a source of service accounts of knative-eventing. */
export function eventingSource(values: ResolvedValues, accounts: readonly string[]): Source {
  return {
    namespaces: [EVENTING_NAMESPACE],
    principals: accounts.map((account) => `${values.trustDomain}/ns/${EVENTING_NAMESPACE}/sa/${account}`),
  }
}

/** Makes an ALLOW policy in the chart's shape; without a component it selects all workloads of the namespace. */
export function allowPolicy({ namespace, name, component }: PolicyPlace, rules: readonly Rule[]): AuthorizationPolicy {
  return {
    apiVersion: 'security.istio.io/v1beta1',
    kind: 'AuthorizationPolicy',
    metadata: { name, namespace },
    spec: { action: 'ALLOW', ...(component === undefined ? {} : { selector: { matchLabels: { [COMPONENT_LABEL]: component } } }), rules },
  }
}

function fromKnativeAndIstio(namespace: string, parts: Parts): AuthorizationPolicy {
  const { tenant, values, isStrict } = parts
  const ingress = values.serving.ingressNamespace === '' ? [] : [values.serving.ingressNamespace]
  const callers = { namespaces: [...tenant.namespaces, SERVING_NAMESPACE, ...ingress, values.istioNamespace] }
  const eventing = isStrict ? parts.senders : { namespaces: [EVENTING_NAMESPACE] }
  return allowPolicy({ namespace, name: 'allow-from-knative-and-istio' }, [
    ...(values.serving.enabled ? [{ from: [{ source: callers }] }] : []),
    ...(values.eventing.enabled ? [{ from: [{ source: eventing }], when: parts.sentForOwn }] : []),
  ])
}

function toServingReceiver(receiver: Component, parts: Parts): AuthorizationPolicy {
  const { values, hosts } = parts
  return allowPolicy({ namespace: SERVING_NAMESPACE, name: `allow-${parts.tenant.name}-to-${receiver.shortName}`, component: receiver.name }, [
    ...(values.serving.enabled ? [{ from: [{ source: parts.own }], to: [{ operation: { hosts } }] }] : []),
    ...(values.eventing.enabled ? [{ from: [{ source: parts.senders }], to: [{ operation: { hosts } }], when: parts.sentForOwn }] : []),
  ])
}

function kafkaBrokerReply(parts: Parts): AuthorizationPolicy {
  return reply('kafka-broker-receiver', { name: 'kafka-broker-reply', accounts: ['knative-kafka-broker-data-plane'] }, parts)
}

function channelBrokerReply(parts: Parts): AuthorizationPolicy {
  const accounts = ['imc-dispatcher', 'mt-broker-filter', 'knative-kafka-channel-data-plane']
  return reply('broker-ingress', { name: 'mt-channel-based-broker-reply', accounts }, parts)
}

function reply(component: string, { name, accounts }: { name: string; accounts: readonly string[] }, parts: Parts): AuthorizationPolicy {
  return allowPolicy({ namespace: EVENTING_NAMESPACE, name: `allow-${parts.tenant.name}-${name}`, component }, [{
    from: [{ source: eventingSource(parts.values, accounts) }],
    to: [{ operation: receive({ paths: parts.paths }, parts) }],
    when: parts.sentForOwn,
  }])
}

function toEventingReceiver(receiver: Component, parts: Parts): AuthorizationPolicy {
  // A receiver reads either the path or the host; allowing both lets one stand in for the other (finding HOST_PATH_OR).
  const paths = parts.isStrict && HOST_RECEIVERS.has(receiver.name) ? [] : [receive({ paths: parts.paths }, parts)]
  const hosts = parts.isStrict && PATH_RECEIVERS.has(receiver.name) ? [] : [receive({ hosts: parts.hosts }, parts)]
  const fromSenders = (operation: Operation): Rule => ({ from: [{ source: parts.senders }], to: [{ operation }], when: parts.sentForOwn })
  return allowPolicy({ namespace: EVENTING_NAMESPACE, name: `allow-${parts.tenant.name}-to-${receiver.shortName}`, component: receiver.name }, [
    { from: [{ source: parts.own }], to: [...paths, ...hosts].map((operation) => ({ operation })) },
    ...hosts.map(fromSenders),
    ...paths.map(fromSenders),
  ])
}

/** Adds what a receiver of events accepts in strict documents: deliveries and the handshake of webhooks. */
function receive(operation: Operation, parts: Parts): Operation {
  return parts.isStrict ? { methods: ['POST', 'OPTIONS'], ...operation } : operation
}

function waitForDrain(namespace: string, parts: Parts): AuthorizationPolicy {
  // The kubelet has no identity, so no source can be named.
  const operation: Operation = parts.isStrict ? { methods: ['GET'], paths: ['/wait-for-drain'], ports: ['8022'] } : { ports: ['8022'] }
  return allowPolicy({ namespace, name: 'allow-wait-for-drain' }, [{ to: [{ operation }] }])
}
