import type { Settings } from './settings.ts'

/** Tells whether an expression may read a key. */
export type SecretRule = (key: string) => boolean

// The keys of remote services, clients, schemes and access to the service (configuration.md §3–5, §7).
const CLOSED = [
  'sonatina.rest-client.', 'sonatina.oidc-client.', 'sonatina.openapi-generator.', 'sonatina.security.', 'sonatina.oidc.',
  'sonatina.http.auth.', 'sonatina.http.ssl.', 'sonatina.credentials-provider.', 'sonatina.http-client.', 'sonatina.auth.',
  'quarkus.rest-client.', 'quarkus.oidc', 'quarkus.openapi-generator.', 'quarkus.security.', 'quarkus.http.auth.', 'quarkus.http.ssl.',
  'sonataflow.security.',
]

/**
 * Makes the rule of `$SECRET` from `sonatina.secrets.allow`: a list of keys or globs (`*` matches any characters).
 *
 * Without the setting nothing may be read in language profile `spec`, and everything but the keys of clients, schemes and
 * access in `sonataflow` (configuration.md §8).
 */
export function createSecretRule(settings: Settings): SecretRule {
  const allowed = settings.list('sonatina.secrets.allow')
  if (allowed === undefined) {
    return settings.languageProfile === 'sonataflow' ? (key) => !CLOSED.some((prefix) => key.startsWith(prefix)) : () => false
  }
  const patterns = allowed.map((glob) => new RegExp(`^${glob.split('*').map((part) => part.replace(/[.\\+?()[\]{}|^$]/g, '\\$&')).join('.*')}$`))
  return (key) => patterns.some((pattern) => pattern.test(key))
}
