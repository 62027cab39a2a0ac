import type { Clock, Logger } from '../common/index.ts'
import { Secret, settingKey, type Settings } from '../configuration/index.ts'
import { createHttpClient } from './create-client.ts'
import type { HttpClient, HttpClients } from './http-client.ts'
import { prepareConnections } from './pools.ts'
import type { HttpClientOptions, Proxies, ProxyOptions, StoreOptions, TlsOptions } from './options.ts'

/** What the clients of a process are made from. */
export interface HttpClientsOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Logger
  /** For the default `User-Agent`. @default '0' */
  readonly version?: string
}

/** Creates the clients of a process from its settings (configuration.md §3, §4); each is made when it is first asked for. */
export function createHttpClients(options: HttpClientsOptions): HttpClients {
  const { settings } = options
  const log = options.log.child({ module: 'http-client' })
  const common = {
    clock: options.clock,
    log,
    userAgent: `sonatina/${options.version ?? '0'}`,
    denyAddresses: settings.list('sonatina.http-client.deny-addresses', []),
    trace: isTraced(settings),
    ...optional('allowTargets', settings.list('sonatina.http-client.allow-targets')),
  }
  const clients = new Map<string, HttpClient>()
  const client = (key: string, make: () => HttpClientOptions): HttpClient => {
    let found = clients.get(key)
    if (!found) {
      const resolved = make()
      if (resolved.tls?.verifyHost === false || resolved.tls?.verifyCertificate === false) {
        log.warn({ client: resolved.name }, `"${resolved.name}" does not check who the server is (verify-host=false); anybody on the way can read its calls`)
      }
      found = createHttpClient(resolved)
      clients.set(key, found)
    }
    return found
  }
  return {
    forDocument(fileKey) {
      // Asked for at load: the first call of an instance need not wait for it.
      prepareConnections()
      return client(`document ${fileKey}`, () => ({ ...common, ...documentOptions(settings, fileKey) }))
    },
    forScheme: (schemeKey) => client(`scheme ${schemeKey}`, () => ({ ...common, traceBodies: false, ...schemeOptions(settings, schemeKey) })),
    get general() {
      return client('general', () => ({ ...common, name: 'rest', ...optional('proxies', environmentProxies(settings)) }))
    },
    async close() {
      await Promise.all([...clients.values()].map((each) => each.close()))
      clients.clear()
    },
  }
}

function documentOptions(settings: Settings, fileKey: string): HttpClientOptions {
  const key = (attribute: string): string => `${settingKey('sonatina.rest-client', fileKey)}.${attribute}`
  // Names come from files and options; in a variable their case would be lost.
  const headers = settings.segments(key('headers')).map((name) => [name, settings.secret(settingKey(key('headers'), name))?.reveal() ?? ''])
  return {
    name: fileKey,
    timeouts: {
      connect: settings.duration(key('connect-timeout'), 15_000),
      read: settings.duration(key('read-timeout'), 30_000),
      total: settings.duration(key('total-timeout'), 120_000),
    },
    redirects: {
      follow: settings.boolean(key('follow-redirects'), false),
      max: settings.number(key('max-redirects'), 5),
      otherOrigins: settings.boolean(key('redirect-other-origins'), false),
    },
    headers: Object.fromEntries(headers) as Record<string, string>,
    tls: tlsOptions(settings, key),
    connections: settings.number(key('connection-pool-size'), 64),
    keepAlive: settings.boolean(key('keep-alive-enabled'), true),
    maxResponseSize: settings.size(key('max-response-size'), 10 * 1024 * 1024),
    retryOnConnect: settings.number(key('retry-on-connect'), 1),
    resilience: {
      retries: settings.number(key('retry.max-attempts'), 0),
      retryDelay: settings.duration(key('retry.delay'), 200),
      maxRetryDelay: settings.duration(key('retry.max-delay'), 10_000),
      breakerFailures: settings.number(key('circuit-breaker.failures'), 0),
      breakerDelay: settings.duration(key('circuit-breaker.delay'), 5000),
      maxConcurrent: settings.number(key('bulkhead.max-concurrent'), 0),
      maxWaiting: settings.number(key('bulkhead.max-waiting'), 10),
    },
    ...optional('connectionTtl', settings.duration(key('connection-ttl'))),
    ...optional('userAgent', settings.text(key('user-agent'))),
    ...optional('allowAddress', literalHost(settings.text(key('url')))),
    ...optional('proxies', configuredProxies(settings, key)),
  }
}

function schemeOptions(settings: Settings, schemeKey: string): HttpClientOptions {
  const key = (attribute: string): string => `${settingKey('sonatina.oidc-client', schemeKey)}.${attribute}`
  const timeout = settings.duration(key('connection-timeout'), 10_000)
  const host = settings.text(key('proxy.host'))
  const tls = tlsOptions(settings, (attribute) => key(`tls.${attribute}`))
  const verification = settings.text(key('tls.verification'))
  return {
    name: schemeKey,
    timeouts: { connect: timeout, read: timeout, total: timeout },
    maxResponseSize: 1024 * 1024,
    tls: {
      ...tls,
      ...(verification === 'certificate-validation' || verification === 'none' ? { verifyHost: false } : {}),
      ...(verification === 'none' ? { verifyCertificate: false } : {}),
    },
    ...optional('allowAddress', literalHost(settings.text(key('auth-server-url')) ?? settings.text(key('token-path')))),
    ...optional('proxies', host === undefined
      ? environmentProxies(settings)
      : toProxies(`${host}:${settings.number(key('proxy.port'), 80)}`, settings.text(key('proxy.username')), settings.secret(key('proxy.password')), [])),
  }
}

function tlsOptions(settings: Settings, key: (attribute: string) => string): Partial<TlsOptions> {
  const store = (name: string): StoreOptions | undefined => {
    const file = settings.text(key(name))
    if (file === undefined) return undefined
    const type = settings.text(key(`${name}-type`))?.toUpperCase()
    return {
      file,
      ...(type === 'PEM' || type === 'PKCS12' ? { type } : {}),
      ...optional('password', settings.secret(key(`${name}-password`))),
    }
  }
  return {
    verifyHost: settings.boolean(key('verify-host'), true),
    ...optional('trustStore', store('trust-store')),
    ...optional('keyStore', store('key-store')),
  }
}

function configuredProxies(settings: Settings, key: (attribute: string) => string): Proxies | undefined {
  const address = settings.text(key('proxy-address'))
  if (address === undefined) return environmentProxies(settings)
  if (address.toLowerCase() === 'none') return undefined
  const except = settings.list(key('non-proxy-hosts'), []).flatMap((item) => item.split('|'))
  return toProxies(address, settings.text(key('proxy-user')), settings.secret(key('proxy-password')), except)
}

function environmentProxies(settings: Settings): Proxies | undefined {
  if (!settings.boolean('sonatina.http-client.environment-proxy', false)) return undefined
  // Both cases are in use; `http_proxy` is the older one.
  const variable = (name: string): string | undefined => settings.text(name) ?? settings.text(name.toLowerCase())
  const except = (variable('NO_PROXY') ?? '').split(',').map((item) => item.trim()).filter((item) => item !== '')
  const proxy = (text: string | undefined): ProxyOptions | undefined => {
    if (text === undefined || !URL.canParse(text)) return text === undefined ? undefined : toProxy(text, undefined, undefined, except)
    const url = new URL(text)
    const user = url.username === '' ? undefined : decodeURIComponent(url.username)
    const password = url.password === '' ? undefined : new Secret(decodeURIComponent(url.password))
    return toProxy(`${url.protocol}//${url.host}`, user, password, except)
  }
  return { ...optional('http', proxy(variable('HTTP_PROXY'))), ...optional('https', proxy(variable('HTTPS_PROXY'))) }
}

function toProxies(address: string, user: string | undefined, password: ProxyOptions['password'], except: readonly string[]): Proxies {
  const proxy = toProxy(address, user, password, except)
  return { http: proxy, https: proxy }
}

function toProxy(address: string, user: string | undefined, password: ProxyOptions['password'], except: readonly string[]): ProxyOptions {
  return { address, except, ...optional('user', user), ...optional('password', password) }
}

function literalHost(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '').toLowerCase() : undefined
}

function isTraced(settings: Settings): boolean {
  const level = settings.text('sonatina.log.category."http-client".level') ??
    settings.text('sonatina.log.category."org.apache.http".level') ?? settings.text('sonatina.log.level', 'INFO')
  return ['DEBUG', 'TRACE', 'ALL'].includes(level.toUpperCase())
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [Name in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [Name in Key]?: Value }
}
