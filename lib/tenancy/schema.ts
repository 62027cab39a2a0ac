/** A JSON Schema, draft 2020-12 or 7 alike; only plain keywords are used. */
export type Schema = Readonly<Record<string, unknown>>

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const labels = { type: 'object', additionalProperties: text }

/** Builds the schema of an object that has these properties and no others: a misspelt field must not become an absent one. */
export function closedObject(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  return { type: 'object', additionalProperties: false, properties, required }
}

function listsOf(names: readonly string[], schema: Schema = texts): Record<string, Schema> {
  return Object.fromEntries(names.flatMap((name) => [[name, schema], [`not${name.charAt(0).toUpperCase()}${name.slice(1)}`, schema]]))
}

const source = closedObject({
  ...listsOf(['principals', 'requestPrincipals', 'namespaces', 'ipBlocks', 'remoteIpBlocks', 'trustDomains']),
  ...listsOf(['serviceAccounts'], { type: 'array', maxItems: 16, items: { type: 'string', maxLength: 320 } }),
})
const operation = closedObject(listsOf(['hosts', 'ports', 'methods', 'paths']))
const condition = closedObject({ key: text, values: texts, notValues: texts }, ['key'])
const rule = closedObject({
  from: { type: 'array', maxItems: 512, items: closedObject({ source }) },
  to: { type: 'array', items: closedObject({ operation }) },
  when: { type: 'array', items: condition },
})
const selector = closedObject({
  matchLabels: { type: 'object', maxProperties: 4096, additionalProperties: { type: 'string', maxLength: 63 } },
})
const targetRef = closedObject({
  group: { type: 'string', maxLength: 253, pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$' },
  kind: { type: 'string', minLength: 1, maxLength: 63, pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$' },
  name: { type: 'string', minLength: 1, maxLength: 253 },
  namespace: text,
}, ['kind', 'name'])
const mtls = closedObject({ mode: { enum: ['UNSET', 'DISABLE', 'PERMISSIVE', 'STRICT'] } })

// The fields of ObjectMeta: what a cluster adds on export must pass, a misspelt `namespace` must not.
const metadata = closedObject({
  name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$' },
  namespace: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
  labels,
  annotations: labels,
  generateName: text,
  generation: {},
  uid: text,
  resourceVersion: text,
  selfLink: text,
  creationTimestamp: {},
  deletionTimestamp: {},
  deletionGracePeriodSeconds: {},
  finalizers: texts,
  ownerReferences: { type: 'array' },
  managedFields: { type: 'array' },
}, ['name'])

function objectOf(kind: string, spec: Schema): Schema {
  return closedObject({
    apiVersion: { enum: ['security.istio.io/v1', 'security.istio.io/v1beta1'] },
    kind: { enum: [kind] },
    metadata,
    spec,
    status: { type: 'object' },
  }, ['apiVersion', 'kind', 'metadata'])
}

/**
 * Schemas of the Istio documents by kind, written from the published rules (tenancy.md, section 4) and stricter than they are:
 * unknown fields are errors.
 */
export const DOCUMENT_SCHEMAS: Readonly<Record<'AuthorizationPolicy' | 'PeerAuthentication', Schema>> = {
  AuthorizationPolicy: objectOf('AuthorizationPolicy', closedObject({
    action: { enum: ['ALLOW', 'DENY', 'AUDIT', 'CUSTOM'] },
    selector,
    targetRef,
    targetRefs: { type: 'array', maxItems: 16, items: targetRef },
    provider: closedObject({ name: text }),
    rules: { type: 'array', maxItems: 512, items: rule },
  })),
  PeerAuthentication: objectOf('PeerAuthentication', closedObject({
    selector,
    mtls,
    portLevelMtls: { type: 'object', minProperties: 1, additionalProperties: mtls },
  })),
}
