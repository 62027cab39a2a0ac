import { settingKey, type Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import type { Identity } from './identity.ts'

/** What a request must fulfil: anybody, nobody, anybody known, or one of some roles. */
export type Rule = 'permit' | 'deny' | 'authenticated' | { readonly roles: readonly string[] }

/** Gives the rules of a method and a path; all of them must hold. */
export type Permissions = (method: string, path: string) => readonly Rule[]

interface Permission {
  readonly methods: ReadonlySet<string> | undefined
  readonly rule: Rule
}

interface PathEntry {
  readonly path: string
  readonly open: boolean
  readonly permissions: Permission[]
}

/**
 * Reads the permissions of the settings (configuration.md §7).
 *
 * The longest path that matches counts. There, permissions that name the method come before those that name none; when all name
 * other methods the request is denied.
 *
 * @throws {@link ConfigurationError} for a permission without path or policy, and for a policy that nobody defines.
 */
export function readPermissions(settings: Settings): { readonly count: number; readonly rulesOf: Permissions } {
  const entries: PathEntry[] = []
  const root = settings.text('sonatina.http.root-path', '/')
  for (const name of settings.segments('sonatina.http.auth.permission')) {
    const key = (attribute: string): string => `${settingKey('sonatina.http.auth.permission', name)}.${attribute}`
    if (!settings.boolean(key('enabled'), true)) continue
    const paths = settings.list(key('paths'), [])
    const policy = settings.text(key('policy'))
    if (paths.length === 0 || policy === undefined) {
      throw new ConfigurationError({ code: 'CONFIGURATION_MISSING', message: `The permission "${name}" is incomplete.\n${settings.describeMissing([...(paths.length === 0 ? [key('paths')] : []), ...(policy === undefined ? [key('policy')] : [])])}` })
    }
    const methods = settings.list(key('methods'))
    const permission = { rule: readPolicy(settings, name, policy), methods: methods && new Set(methods.map((method) => method.toUpperCase())) }
    for (const text of paths) addPath(entries, text.startsWith('/') ? text : `${root.replace(/\/$/, '')}/${text}`, permission)
  }
  entries.sort((left, right) => right.path.length - left.path.length || Number(left.open) - Number(right.open))
  return {
    count: entries.length,
    rulesOf(method, path) {
      const entry = entries.find((candidate) => matches(candidate, path))
      if (!entry) return []
      const named = entry.permissions.filter(({ methods }) => methods?.has(method) === true)
      const rest = named.length > 0 ? named : entry.permissions.filter(({ methods }) => methods === undefined)
      return rest.length > 0 ? rest.map(({ rule }) => rule) : ['deny']
    },
  }
}

/** Tells whether a caller fulfils a rule. */
export function fulfils(rule: Rule, identity: Identity | undefined): boolean {
  if (rule === 'permit') return true
  if (rule === 'deny' || !identity) return false
  return rule === 'authenticated' || rule.roles.some((role) => role === '**' || identity.roles.includes(role))
}

/**
 * Gives the one form of a path under which permissions are looked up: decoded once, no empty, `.` or `..` segments, no parameters,
 * no slash at the end; `undefined` when it cannot be decoded.
 */
export function canonicalPath(path: string): string | undefined {
  let decoded: string
  try {
    decoded = decodeURIComponent(path.replace(/[?#].*$/, ''))
  } catch {
    return undefined
  }
  const segments: string[] = []
  for (const part of decoded.split('/')) {
    const segment = part.replace(/;.*$/, '')
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}

function addPath(entries: PathEntry[], text: string, permission: Permission): void {
  const open = text.endsWith('/*')
  const path = canonicalPath(open ? text.slice(0, -2) : text)
  if (path === undefined || path.includes('*')) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `The path "${text}" of a permission is not supported: "*" stands only for all segments at the end, as in /secure/*` })
  }
  const known = entries.find((entry) => entry.path === path && entry.open === open)
  if (known) known.permissions.push(permission)
  else entries.push({ path, open, permissions: [permission] })
}

function matches(entry: PathEntry, path: string): boolean {
  if (path === entry.path) return true
  return entry.open && path.startsWith(entry.path === '/' ? '/' : `${entry.path}/`)
}

function readPolicy(settings: Settings, permission: string, policy: string): Rule {
  if (policy === 'permit' || policy === 'deny' || policy === 'authenticated') return policy
  const key = `${settingKey('sonatina.http.auth.policy', policy)}.roles-allowed`
  const roles = settings.list(key)
  if (roles) return { roles }
  throw new ConfigurationError({
    code: 'CONFIGURATION_MISSING',
    message: `The permission "${permission}" names the policy "${policy}", which is not permit, deny or authenticated and not defined.\n${settings.describeMissing([key])}`,
  })
}
