import { createHash, timingSafeEqual } from 'node:crypto'
import { settingKey, type Secret, type Settings } from '../configuration/index.ts'
import { ConfigurationError, RequestError } from '../errors/index.ts'
import type { Identity, Mechanism } from './identity.ts'

interface User {
  readonly matches: (password: string) => boolean
  readonly roles: readonly string[]
}

// An unknown user costs the same work as a known one, so that time does not tell which names exist.
const NOBODY: User = {
  matches: (password) => {
    equalTexts(password, '')
    return false
  },
  roles: [],
}

/** Makes the check of http basic against the users of the settings; `undefined` when there are none (configuration.md §7). */
export function createBasicMechanism(settings: Settings): Mechanism | undefined {
  const prefix = 'sonatina.security.users.embedded'
  if (!settings.boolean(`${prefix}.enabled`, false)) {
    if (!settings.boolean('sonatina.http.auth.basic', false)) return undefined
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `sonatina.http.auth.basic is on, but no users are known; set ${prefix}.enabled=true and ${prefix}.users.<name>` })
  }
  const plain = settings.boolean(`${prefix}.plain-text`, false)
  const realm = settings.text(`${prefix}.realm-name`, 'Quarkus')
  const users = new Map(settings.segments(`${prefix}.users`).flatMap((name): [string, User][] => {
    const stored = settings.secret(settingKey(`${prefix}.users`, name))
    if (!stored) return []
    const matches = plain ? matchPlain(stored) : matchDigest(name, realm, stored)
    return [[name, { matches, roles: settings.list(settingKey(`${prefix}.roles`, name), []) }]]
  }))
  return {
    challenge: `Basic realm="${settings.text('sonatina.http.auth.realm', 'sonatina')}", charset="UTF-8"`,
    authenticate(headers) {
      const credentials = parseBasic(headers['authorization'])
      if (!credentials) return undefined
      const user = users.get(credentials.name) ?? NOBODY
      if (!user.matches(credentials.password)) throw wrongCredentials()
      return { name: credentials.name, roles: user.roles, scheme: 'basic' }
    },
  }
}

/** Makes the check of API keys; `undefined` when none is set. */
export function createApiKeyMechanism(settings: Settings): Mechanism | undefined {
  const prefix = 'sonatina.security.api-key'
  const callers = settings.segments(`${prefix}.keys`).flatMap((name): { key: Secret; identity: Identity }[] => {
    const key = settings.secret(settingKey(`${prefix}.keys`, name))
    return key ? [{ key, identity: { name, roles: settings.list(settingKey(`${prefix}.roles`, name), []), scheme: 'api-key' } }] : []
  })
  if (callers.length === 0) return undefined
  const header = settings.secret(`${prefix}.header`)?.reveal().toLowerCase() ?? 'x-api-key'
  return {
    challenge: undefined,
    authenticate(headers) {
      const given = headers[header]
      if (typeof given !== 'string' || given === '') return undefined
      // All keys are compared, so that time tells nothing about which one was near.
      const [found] = callers.filter(({ key }) => equalTexts(given, key.reveal()))
      if (!found) throw wrongCredentials()
      return found.identity
    },
  }
}

/** The answer to credentials that are not right; it does not say what about them is wrong. */
export function wrongCredentials(): RequestError {
  return new RequestError({ code: 'UNAUTHENTICATED', message: 'The credentials of the request are not accepted' })
}

function parseBasic(header: string | string[] | undefined): { readonly name: string; readonly password: string } | undefined {
  const encoded = typeof header === 'string' ? /^Basic\s+([A-Za-z0-9+/]+=*)\s*$/i.exec(header)?.[1] : undefined
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw wrongCredentials()
  return { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

function matchPlain(stored: Secret): (password: string) => boolean {
  return (password) => equalTexts(password, stored.reveal())
}

// Quarkus keeps MD5(user:realm:password) as hex; sha256: is ours.
function matchDigest(name: string, realm: string, stored: Secret): (password: string) => boolean {
  const value = stored.reveal().toLowerCase()
  const [algorithm, digest] = value.startsWith('sha256:') ? ['sha256', value.slice('sha256:'.length)] : ['md5', value]
  return (password) => equalTexts(createHash(algorithm).update(`${name}:${realm}:${password}`, 'utf8').digest('hex'), digest)
}

function equalTexts(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest()
  return timingSafeEqual(digest(left), digest(right))
}
