import { closedObject, type Schema } from './schema.ts'

const LABEL = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'
const DOMAIN = '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$'
const label: Schema = {
  type: 'string',
  pattern: LABEL,
  description: 'an RFC 1123 label (lower-case letters, digits and hyphens, at most 63 characters)',
}
const domain: Schema = { type: 'string', pattern: DOMAIN, maxLength: 253, description: 'a DNS name in lower case' }

/** Namespaces that are never a tenant's: `*` in a policy, or a tenant in one of these, would void the isolation. */
export const SYSTEM_NAMESPACES: readonly string[] = ['istio-system', 'knative-serving', 'knative-serving-ingress', 'knative-eventing']

/** Namespaces of the platform; a tenant may have them only when asked for expressly. */
export const PLATFORM_NAMESPACE = /^(kube|openshift)-/

/** A component by its label and the short form that document names carry. */
const component = closedObject({ name: label, shortName: label }, ['name', 'shortName'])
const components: Schema = { type: 'array', minItems: 1, items: component, uniqueItems: true }
const account = closedObject({ name: domain, shortName: label }, ['name', 'shortName'])

const sharedValues: Readonly<Record<string, Schema>> = {
  istioNamespace: label,
  cluster: closedObject({ domain }),
  trustDomain: { type: 'string', pattern: '^[a-z0-9._-]{1,255}$', description: 'a SPIFFE trust domain (lower case)' },
  serving: closedObject({
    enabled: { type: 'boolean' },
    receivers: components,
    ingressNamespace: { type: 'string', pattern: `${LABEL}|^$`, description: 'an RFC 1123 label, or empty for none' },
  }),
  eventing: closedObject({
    enabled: { type: 'boolean' },
    receivers: components,
    sendersServiceAccounts: { type: 'array', minItems: 1, items: account, uniqueItems: true },
  }),
}

const namespaces: Schema = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: label,
  description: 'the namespaces that the tenant owns; without any the lists would be null, which a cluster reads as "any"',
}

const tenant = { name: label, namespaces }

/** Schema of the values that tenants share. */
export const SHARED_SCHEMA: Schema = closedObject(sharedValues)

/** Schema of a tenants file: tenants and the values they share. */
export const TENANTS_SCHEMA: Schema = closedObject({
  tenants: { type: 'array', minItems: 1, items: closedObject(tenant, ['name', 'namespaces']) },
  ...sharedValues,
}, ['tenants'])

/** Schema of a single tenant with its values: the values of the chart. */
export const TENANT_SCHEMA: Schema = closedObject({ ...tenant, ...sharedValues }, ['name', 'namespaces'])

/** Schema of the chart's values for Helm: the tenant's, with the names that no tenant may have, and what Helm adds itself. */
export const CHART_VALUES_SCHEMA: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Values of one tenant',
  ...closedObject({
    ...tenant,
    namespaces: { ...namespaces, items: { ...label, not: { anyOf: [{ enum: SYSTEM_NAMESPACES }, { pattern: PLATFORM_NAMESPACE.source }] } } },
    ...sharedValues,
    global: { type: 'object' },
  }, ['name', 'namespaces']),
  not: {
    properties: {
      serving: { properties: { enabled: { enum: [false] } }, required: ['enabled'] },
      eventing: { properties: { enabled: { enum: [false] } }, required: ['enabled'] },
    },
    required: ['serving', 'eventing'],
  },
}
