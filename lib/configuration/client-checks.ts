import { settingKey } from './key.ts'
import type { ResolvedSettings } from './resolved-settings.ts'
import type { Finding } from './sources.ts'

const NEEDS_A_USER = ['code', 'ciba', 'device']
const NEVER_FORWARDED = /^(?:authorization|cookie|host|proxy-.*|content-.*|connection|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

/** Checks what only several settings together can tell about clients: grants, both secret forms, stores, forwarded headers. */
export function checkClients(settings: ResolvedSettings): Finding[] {
  const errors: string[] = []
  for (const scheme of settings.segments('sonatina.oidc-client')) errors.push(...checkOidcClient(settings, scheme))
  for (const file of settings.segments('sonatina.rest-client')) {
    const key = settingKey('sonatina.rest-client', file)
    errors.push(...checkStores(settings, key))
    const verifier = text(settings, `${key}.hostname-verifier`)
    if (verifier === undefined) continue
    if (!/Noop|AllowAll/i.test(verifier)) errors.push(`${spelling(settings, `${key}.hostname-verifier`)}: only a verifier that disables checking is known`)
    else if (text(settings, `${key}.verify-host`)?.toLowerCase() !== 'false') errors.push(`${spelling(settings, `${key}.hostname-verifier`)} disables checking; it needs ${key}.verify-host=false as well`)
  }
  const forwarded = text(settings, 'sonatina.headers.forward')?.split(',').map((name) => name.trim()) ?? []
  const refused = forwarded.filter((name) => NEVER_FORWARDED.test(name))
  if (refused.length > 0) errors.push(`${spelling(settings, 'sonatina.headers.forward')} must not hold ${refused.join(', ')}: such headers are never forwarded`)
  return errors.map((message) => ({ level: 'error', message }))
}

/** Checks the client of one scheme; gives what is wrong, in words. */
function checkOidcClient(settings: ResolvedSettings, scheme: string): string[] {
  const key = settingKey('sonatina.oidc-client', scheme)
  const errors: string[] = checkStores(settings, `${key}.tls`)
  const grant = text(settings, `${key}.grant.type`)
  if (grant !== undefined && NEEDS_A_USER.includes(grant)) {
    errors.push(`${spelling(settings, `${key}.grant.type`)}: the grant "${grant}" needs a user at a browser; use client, password, refresh, exchange or jwt`)
  }
  const short = `${key}.credentials.secret`
  const long = `${key}.credentials.client-secret.value`
  if (settings.has(short) && settings.has(long)) errors.push(`${spelling(settings, short)} and ${spelling(settings, long)} are both set; keep one`)
  const store = text(settings, `${key}.credentials.jwt.key-store-file`)
  if (store !== undefined && /\.jks$/i.test(store)) errors.push(jksMessage(settings, `${key}.credentials.jwt.key-store-file`))
  return errors
}

function checkStores(settings: ResolvedSettings, key: string): string[] {
  return ['trust-store', 'key-store'].flatMap((name) => {
    const file = text(settings, `${key}.${name}`)
    const type = text(settings, `${key}.${name}-type`)
    if (type?.toUpperCase() === 'JKS') return [jksMessage(settings, `${key}.${name}-type`)]
    return type === undefined && file !== undefined && /\.jks$/i.test(file) ? [jksMessage(settings, `${key}.${name}`)] : []
  })
}

function jksMessage(settings: ResolvedSettings, key: string): string {
  return `${spelling(settings, key)}: JKS stores are not read; convert it: keytool -importkeystore -srckeystore store.jks -destkeystore store.p12 -deststoretype PKCS12`
}

function text(settings: ResolvedSettings, key: string): string | undefined {
  const value = settings.value(key)
  return typeof value === 'string' ? value : undefined
}

function spelling(settings: ResolvedSettings, key: string): string {
  const origin = settings.origin(key)
  if (!origin) return key
  return `${origin.spelling} (${origin.line === undefined ? origin.source : `${origin.source}:${origin.line}`})`
}
