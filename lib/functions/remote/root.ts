/** The root address of a remote service: where operation paths are appended. */
export interface Root {
  /** Scheme, host and port. */
  readonly origin: string
  /** Path without trailing slash; empty for `/`. */
  readonly basePath: string
}

/**
 * Parses a root address: http or https, no user info, query or fragment (openapi-functions.md §3, §7).
 *
 * @returns what is wrong, as a text, when it cannot be one
 */
export function parseRoot(address: string): Root | string {
  let url: URL
  try {
    url = new URL(address)
  } catch {
    return 'is not an absolute address'
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not an http or https address'
  if (url.username !== '' || url.password !== '') return 'holds user name or password; configure a security scheme instead'
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(address)) return 'holds a query or fragment, which has no place in a root address'
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') }
}

/** Joins root, path and query to a request target, without a doubled `/`. */
export function joinTarget(root: Root, path: string, query: string): string {
  const target = root.basePath + (path.startsWith('/') ? path : `/${path}`)
  return query === '' ? target : `${target}?${query}`
}

/**
 * Tells whether a target, parsed again as a client or server would, still is what was built: the root's origin, and the path unchanged.
 *
 * Needed only for paths with parameters: a fixed one is checked at load, and a query cannot change what stands before it.
 */
export function staysBelow(root: Root, target: string): boolean {
  try {
    const url = new URL(root.origin + target)
    const end = target.indexOf('?')
    return url.origin === root.origin && url.pathname === (end < 0 ? target : target.slice(0, end))
  } catch {
    return false
  }
}
