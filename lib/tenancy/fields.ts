import type { Facts } from './call.ts'
import { expandPrincipals, expandTrustDomains } from './identity.ts'
import { compileBlocks } from './ip.ts'
import { compileGlobs, compilePaths, compileTexts } from './patterns.ts'
import type { Operation, Source } from './types.ts'

/** Tests one field of a rule against a call. */
export type FieldTest = (facts: Facts) => boolean

/** What compiling a field needs to know of its policy. */
export interface FieldContext {
  /** Namespace of the policy: a service account without a namespace is meant in it. */
  readonly namespace: string
  /** The trust domain and its aliases. */
  readonly trustDomains: readonly string[]
}

/** How one field is compiled. */
export interface FieldKind {
  /** Whether the field exists only in HTTP: on a plain TCP connection it cannot be tested (tenancy.md, section 4, rule 8). */
  readonly httpOnly?: true
  /** Whether the field is known to a node proxy of ambient mode, which sees connections only. */
  readonly ambient?: true
  compile(values: readonly string[], context: FieldContext): FieldTest
}

const principals: FieldKind = {
  ambient: true,
  compile(values, context) {
    const test = compileTexts(expandPrincipals(values, context.trustDomains))
    return (facts) => test(facts.identity?.principal)
  },
}

const requestPrincipals: FieldKind = {
  httpOnly: true,
  compile(values) {
    const tests = values.map(requestPrincipalTest)
    return (facts) => {
      const issuer = facts.claim(['iss'])
      const subject = facts.claim(['sub'])
      return typeof issuer === 'string' && typeof subject === 'string' && tests.some((test) => test(issuer, subject))
    }
  },
}

/** Splits `issuer/subject` at the last slash, because an issuer may be a URL; without one, `*x` means the subject. */
function requestPrincipalTest(value: string): (issuer: string, subject: string) => boolean {
  const slash = value.lastIndexOf('/')
  const isPair = slash >= 0
  const issuer = isPair ? value.slice(0, slash) : value
  const subject = isPair ? value.slice(slash + 1) : ''
  if (value === '*') return both(compileTexts(['*']), compileTexts(['*']))
  if (value.startsWith('*')) return isPair ? both(compileTexts([issuer]), exactly(subject)) : both(compileTexts(['*']), compileTexts([value]))
  if (value.endsWith('*')) return isPair ? both(exactly(issuer), compileTexts([subject])) : both(compileTexts([value]), compileTexts(['*']))
  return both(exactly(issuer), exactly(subject))
}

function both(issuer: (text: string) => boolean, subject: (text: string) => boolean): (iss: string, sub: string) => boolean {
  return (iss, sub) => issuer(iss) && subject(sub)
}

function exactly(expected: string): (value: string) => boolean {
  return (value) => value === expected
}

const namespaces: FieldKind = {
  ambient: true,
  compile(values) {
    const test = compileGlobs(values)
    return (facts) => test(facts.identity?.namespace)
  },
}

const serviceAccounts: FieldKind = {
  ambient: true,
  compile(values, context) {
    const wanted = new Set(values.map((value) => value.includes('/') ? value : `${context.namespace}/${value}`))
    return ({ identity }) => identity?.serviceAccount !== undefined && wanted.has(`${identity.namespace ?? ''}/${identity.serviceAccount}`)
  },
}

const trustDomains: FieldKind = {
  ambient: true,
  compile(values, context) {
    const test = compileGlobs(expandTrustDomains(values, context.trustDomains))
    return (facts) => test(facts.identity?.trustDomain)
  },
}

const ipBlocks: FieldKind = {
  ambient: true,
  compile(values) {
    const test = compileBlocks(values)
    return (facts) => test(facts.sourceAddress)
  },
}

const remoteIpBlocks: FieldKind = {
  compile(values) {
    const test = compileBlocks(values)
    return (facts) => test(facts.remoteAddress)
  },
}

const hosts: FieldKind = {
  httpOnly: true,
  compile(values) {
    const test = compileTexts(values, { ignoreCase: true, presence: true })
    return (facts) => test(facts.authority)
  },
}

const methods: FieldKind = {
  httpOnly: true,
  compile(values) {
    const test = compileTexts(values, { presence: true })
    return (facts) => test(facts.call.method)
  },
}

const paths: FieldKind = {
  httpOnly: true,
  compile(values) {
    const test = compilePaths(values)
    return (facts) => test(facts.path)
  },
}

const ports: FieldKind = {
  ambient: true,
  compile(values) {
    const wanted = new Set(values.map(Number))
    return (facts) => wanted.has(facts.call.destination.port)
  },
}

/** The fields of a source, with the field that means the opposite; order as Istio compiles them. */
export const SOURCE_FIELDS: readonly (readonly [keyof Source, keyof Source, FieldKind])[] = [
  ['principals', 'notPrincipals', principals],
  ['requestPrincipals', 'notRequestPrincipals', requestPrincipals],
  ['namespaces', 'notNamespaces', namespaces],
  ['serviceAccounts', 'notServiceAccounts', serviceAccounts],
  ['trustDomains', 'notTrustDomains', trustDomains],
  ['remoteIpBlocks', 'notRemoteIpBlocks', remoteIpBlocks],
  ['ipBlocks', 'notIpBlocks', ipBlocks],
]

/** The fields of an operation, with the field that means the opposite. */
export const OPERATION_FIELDS: readonly (readonly [keyof Operation, keyof Operation, FieldKind])[] = [
  ['hosts', 'notHosts', hosts],
  ['methods', 'notMethods', methods],
  ['paths', 'notPaths', paths],
  ['ports', 'notPorts', ports],
]

/** Fields that conditions share with sources and operations. */
export const SHARED_FIELDS = { principals, requestPrincipals, namespaces, serviceAccounts, trustDomains, remoteIpBlocks, ipBlocks, ports } as const
