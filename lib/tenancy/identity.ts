/** A SPIFFE identity taken apart. */
export interface Identity {
  /** The whole URI, `spiffe://…`. */
  readonly uri: string
  /** The URI without `spiffe://`, the form that `principals` of a policy are written in. */
  readonly principal: string
  readonly trustDomain: string
  /** The part after `/ns/`; absent in an identity of another shape. */
  readonly namespace?: string
  /** The part after `/sa/`; absent in an identity of another shape. */
  readonly serviceAccount?: string
}

const SCHEME = 'spiffe://'
const WORKLOAD = /^spiffe:\/\/([a-z0-9._-]{1,255})\/ns\/([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)\/sa\/([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?)$/

/**
 * Takes an identity apart: `spiffe://<trust domain>/ns/<namespace>/sa/<service account>`, with or without the scheme.
 *
 * Other shapes keep what they have (tenancy.md, section 4, rule 5); they match only what asks for no more.
 */
export function parseIdentity(text: string): Identity {
  const principal = text.startsWith(SCHEME) ? text.slice(SCHEME.length) : text
  const [trustDomain = '', ...segments] = principal.split('/')
  const base = { uri: SCHEME + principal, principal, trustDomain }
  const namespace = segments[segments.indexOf('ns') + 1]
  if (!segments.includes('ns') || namespace === undefined || namespace === '') return base
  const rest = segments.slice(segments.indexOf('ns') + 2)
  if (rest.length === 0) return base
  const serviceAccount = rest[rest.indexOf('sa') + 1]
  return rest.includes('sa') && serviceAccount !== undefined && serviceAccount !== ''
    ? { ...base, namespace, serviceAccount }
    : { ...base, namespace }
}

/** Tells whether a URI is a workload's identity in exactly the form that Istio issues. */
export function isWorkloadIdentity(uri: string): boolean {
  return uri.length <= 2048 && WORKLOAD.test(uri)
}

/**
 * Replaces the trust domain of principals by every domain that is trusted, as Istio does for aliases: `cluster.local` stands for
 * the mesh's own domain; principals of a foreign domain, or without a fixed one, stay as they are.
 *
 * @param domains the mesh's trust domain first, then its aliases; empty leaves everything as written
 */
export function expandPrincipals(principals: readonly string[], domains: readonly string[]): readonly string[] {
  return domains.length === 0 ? principals : principals.flatMap((principal) => expandPrincipal(principal, domains))
}

function expandPrincipal(principal: string, domains: readonly string[]): readonly string[] {
  const [domain = '', ...rest] = principal.split('/')
  if (rest.length !== 4 || domain === '*') return [principal]
  const covers = (candidate: string): boolean => domain.startsWith('*') && candidate.endsWith(domain.slice(1))
  if (domain !== 'cluster.local' && !domains.includes(domain) && !domains.some(covers)) return [principal]
  return [...new Set(domains.map((candidate) => covers(candidate) ? principal : [candidate, ...rest].join('/')))]
}

/** Replaces a trusted domain by all that are trusted; others stay as they are. */
export function expandTrustDomains(values: readonly string[], domains: readonly string[]): readonly string[] {
  return [...new Set(values.flatMap((value) => domains.includes(value) ? domains : [value]))]
}
