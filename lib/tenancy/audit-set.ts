import { atPointer, isJsonObject, toPointer, type JsonObject } from '../common/index.ts'
import type { AuditSubject, Finding } from './finding.ts'
import { identityOf } from './diff.ts'
import { nameOf } from './documents.ts'
import { generateTenant } from './generate.ts'
import { EVENTING_NAMESPACE, SERVING_NAMESPACE } from './inputs.ts'
import { generateSystem } from './system.ts'

/** Finds mistakes that show in the documents themselves: empty lists, rules for anyone, overlaps, missing and extra documents. */
export function auditSet(subject: AuditSubject): Finding[] {
  return [
    ...subject.documents.flatMap((document) => [...emptyLists(document), ...openRules(document)]),
    ...overlaps(subject),
    ...(subject.isGiven ? comparison(subject) : []),
    ...mutualTls(subject),
  ]
}

function emptyLists(document: JsonObject): Finding[] {
  if (document['kind'] !== 'AuthorizationPolicy') return []
  return findEmpty(atPointer(document, '/spec/rules'), ['spec', 'rules']).map((pointer) => ({
    code: 'EMPTY_LIST',
    severity: 'error',
    document: nameOf(document, '?'),
    message: `${pointer} is an empty list, which means any`,
    cure: 'list values or remove the field',
  }))
}

function findEmpty(value: unknown, path: readonly (string | number)[]): string[] {
  if (Array.isArray(value)) {
    return value.length === 0 && path.length > 2 ? [toPointer(path)] : value.flatMap((item: unknown, index) => findEmpty(item, [...path, index]))
  }
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, item]) => findEmpty(item, [...path, key])) : []
}

function openRules(document: JsonObject): Finding[] {
  const action = atPointer(document, '/spec/action') ?? 'ALLOW'
  if (document['kind'] !== 'AuthorizationPolicy' || action !== 'ALLOW') return []
  const rules = atPointer(document, '/spec/rules')
  return (Array.isArray(rules) ? rules : []).flatMap((rule: unknown, index): Finding[] => {
    if (!isJsonObject(rule) || !isForAnyone(rule) || isDrainHook(rule)) return []
    const isTotal = Object.keys(rule).length === 0
    return [{
      code: 'ALLOW_ALL',
      severity: isTotal ? 'error' : 'warning',
      document: nameOf(document, '?'),
      message: `rule ${String(index)} ${isTotal ? 'allows every request' : 'names no source, so anyone may call'}`,
      cure: 'name the sources in "from"',
    }]
  })
}

function isForAnyone(rule: JsonObject): boolean {
  const from = rule['from']
  const entries = Array.isArray(from) ? from : []
  const isWild = (value: unknown): boolean => Array.isArray(value) && value.includes('*')
  return entries.length === 0 || entries.some((entry: unknown) => {
    const source = isJsonObject(entry) && isJsonObject(entry['source']) ? entry['source'] : {}
    const fields = Object.values(source)
    return fields.length > 0 && fields.every(isWild)
  })
}

/** The pre-stop hook is called by the kubelet, which has no identity: finding DRAIN_OPEN is about it. */
function isDrainHook(rule: JsonObject): boolean {
  const to = rule['to']
  return Array.isArray(to) && to.length > 0 && to.every((entry: unknown) => {
    const ports = atPointer(entry, '/operation/ports')
    return Array.isArray(ports) && ports.length === 1 && ports[0] === '8022'
  })
}

function overlaps({ documents, tenants }: AuditSubject): Finding[] {
  const found: Finding[] = []
  const owners = new Map<string, string>()
  for (const { name, namespaces } of tenants) {
    for (const namespace of namespaces) {
      const owner = owners.get(namespace)
      if (owner !== undefined && owner !== name) {
        found.push({ code: 'OVERLAP', severity: 'error', message: `the namespace "${namespace}" belongs to "${owner}" and to "${name}"`, cure: 'give each namespace to one tenant' })
      }
      owners.set(namespace, name)
    }
  }
  const seen = new Set<string>()
  for (const [index, document] of documents.entries()) {
    const identity = identityOf(document, `#${String(index + 1)}`)
    if (seen.has(identity)) {
      found.push({ code: 'OVERLAP', severity: 'error', document: nameOf(document, '?'), message: `${identity} is in the set twice; a cluster keeps the last one`, cure: 'remove one of them' })
    }
    seen.add(identity)
  }
  return found
}

/** Compares the set with what the generator makes; strict documents may be there or not. */
function comparison({ documents, tenants, values }: AuditSubject): Finding[] {
  const plain = [...generateSystem(values), ...tenants.flatMap((tenant) => generateTenant(tenant, values))].map((document) => identityOf(document, ''))
  const strict = tenants.flatMap((tenant) => generateTenant(tenant, values, { strict: true })).map((document) => identityOf(document, ''))
  const known = new Set([...plain, ...strict])
  const present = new Set(documents.map((document) => identityOf(document, '')))
  const governed = new Set([SERVING_NAMESPACE, EVENTING_NAMESPACE, ...tenants.flatMap(({ namespaces }) => namespaces)])
  const missing = plain.filter((identity) => !present.has(identity)).map((identity): Finding => ({
    code: 'MISSING_DOCUMENT', severity: 'error', message: `${identity} is missing`, cure: 'add what sonatina policies generate makes',
  }))
  const extra = documents.filter((document) => document['kind'] === 'AuthorizationPolicy' && !known.has(identityOf(document, ''))).flatMap((document): Finding[] => {
    const namespace = atPointer(document, '/metadata/namespace')
    return typeof namespace !== 'string' || !governed.has(namespace) ? [] : [{
      code: 'EXTRA_DOCUMENT',
      severity: 'warning',
      document: nameOf(document, '?'),
      message: `${identityOf(document, '')} is not one of the generated documents`,
      cure: 'make sure that it is meant, or remove it',
    }]
  })
  return [...missing, ...extra]
}

function mutualTls({ documents, rootNamespace }: AuditSubject): Finding[] {
  const authentications = documents.filter(({ kind }) => kind === 'PeerAuthentication')
  if (authentications.length === 0) return []
  const finding = (message: string, document?: string): Finding => ({
    code: 'PERMISSIVE_MTLS',
    severity: 'warning',
    ...(document === undefined ? {} : { document }),
    message: `${message}: a caller without a certificate has no identity, and rules without sources let it in`,
    cure: 'set mtls.mode to STRICT',
  })
  const lax = authentications.flatMap((document) => {
    const spec = isJsonObject(document['spec']) ? document['spec'] : {}
    const ports = isJsonObject(spec['portLevelMtls']) ? Object.values(spec['portLevelMtls']) : []
    const modes = [spec['mtls'], ...ports].map((mtls) => isJsonObject(mtls) ? mtls['mode'] : undefined)
    return modes.some((mode) => mode === 'PERMISSIVE' || mode === 'DISABLE') ? [finding('mutual TLS is not required', nameOf(document, '?'))] : []
  })
  const isStrict = authentications.some((document) => atPointer(document, '/metadata/namespace') === rootNamespace &&
    atPointer(document, '/spec/selector') === undefined && atPointer(document, '/spec/mtls/mode') === 'STRICT')
  return isStrict ? lax : [...lax, finding(`no PeerAuthentication of ${rootNamespace} makes mutual TLS strict for the whole mesh`)]
}
