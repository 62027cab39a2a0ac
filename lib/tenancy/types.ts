/** Metadata of a Kubernetes object, as far as policies need it. */
export interface ObjectMeta {
  readonly name: string
  /** Absent means the namespace `default`, as in a cluster. */
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Who calls: fields are joined by AND, values of one field by OR; `not…` means none of the values. */
export interface Source {
  readonly principals?: readonly string[]
  readonly notPrincipals?: readonly string[]
  readonly requestPrincipals?: readonly string[]
  readonly notRequestPrincipals?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly notNamespaces?: readonly string[]
  readonly serviceAccounts?: readonly string[]
  readonly notServiceAccounts?: readonly string[]
  readonly trustDomains?: readonly string[]
  readonly notTrustDomains?: readonly string[]
  readonly ipBlocks?: readonly string[]
  readonly notIpBlocks?: readonly string[]
  readonly remoteIpBlocks?: readonly string[]
  readonly notRemoteIpBlocks?: readonly string[]
}

/** What is called. */
export interface Operation {
  readonly hosts?: readonly string[]
  readonly notHosts?: readonly string[]
  readonly ports?: readonly string[]
  readonly notPorts?: readonly string[]
  readonly methods?: readonly string[]
  readonly notMethods?: readonly string[]
  readonly paths?: readonly string[]
  readonly notPaths?: readonly string[]
}

/** A further condition on an attribute of the request. */
export interface Condition {
  readonly key: string
  readonly values?: readonly string[]
  readonly notValues?: readonly string[]
}

/** One rule: `from` AND `to` AND `when`; entries of `from` and `to` are joined by OR. */
export interface Rule {
  readonly from?: readonly { readonly source: Source }[]
  readonly to?: readonly { readonly operation: Operation }[]
  readonly when?: readonly Condition[]
}

/** What a matching rule does. */
export type Action = 'ALLOW' | 'DENY' | 'AUDIT' | 'CUSTOM'

/** A reference to the gateway or service that a policy is attached to instead of workloads. */
interface TargetRef {
  readonly group?: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** Chooses workloads by labels; absent or empty chooses all of the namespace. */
interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
}

/** The specification part of an {@link AuthorizationPolicy}. */
interface AuthorizationPolicySpec {
  readonly action?: Action
  readonly selector?: Selector
  readonly targetRef?: TargetRef
  readonly targetRefs?: readonly TargetRef[]
  readonly provider?: { readonly name?: string }
  readonly rules?: readonly Rule[]
}

/** An Istio AuthorizationPolicy (`security.istio.io/v1` or `v1beta1`). */
export interface AuthorizationPolicy {
  readonly apiVersion: string
  readonly kind: 'AuthorizationPolicy'
  readonly metadata: ObjectMeta
  readonly spec?: AuthorizationPolicySpec
}

/** How strictly mutual TLS is asked for. */
type MtlsMode = 'UNSET' | 'DISABLE' | 'PERMISSIVE' | 'STRICT'

/** An Istio PeerAuthentication. */
export interface PeerAuthentication {
  readonly apiVersion: string
  readonly kind: 'PeerAuthentication'
  readonly metadata: ObjectMeta
  readonly spec?: {
    readonly selector?: Selector
    readonly mtls?: { readonly mode?: MtlsMode }
    readonly portLevelMtls?: Readonly<Record<string, { readonly mode?: MtlsMode }>>
  }
}

/** The member list of an OpenShift Service Mesh. */
export interface ServiceMeshMemberRoll {
  readonly apiVersion: 'maistra.io/v1'
  readonly kind: 'ServiceMeshMemberRoll'
  readonly metadata: ObjectMeta
  readonly spec: { readonly members: readonly string[] }
}

/** Any document that the generator makes. */
export type PolicyDocument = AuthorizationPolicy | PeerAuthentication | ServiceMeshMemberRoll

/** The namespace of an object: its own, or `default`. */
export function namespaceOf(document: { readonly metadata: ObjectMeta }): string {
  return document.metadata.namespace ?? 'default'
}

/** Names a document as `namespace/name`, the form that decisions and findings use. */
export function documentName(document: { readonly metadata: ObjectMeta }): string {
  return `${namespaceOf(document)}/${document.metadata.name}`
}
