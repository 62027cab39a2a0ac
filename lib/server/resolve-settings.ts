import { readFileSync } from 'node:fs'
import type { Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import { DEFAULT_SERVER_SETTINGS as DEFAULTS, type CorsSettings, type ServerSettings, type TlsSettings } from './settings.ts'

/**
 * Reads the settings of the server (configuration.md §6, http-contract.md §8).
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` or `CONFIGURATION_MISSING`, naming the key
 */
export function resolveServerSettings(settings: Settings): ServerSettings {
  const configuredUrl = settings.text('sonatina.service.url')
  const serviceUrl = configuredUrl === undefined ? undefined : resolveServiceUrl(configuredUrl)
  const answerTimeout = settings.duration('sonatina.http.answer-timeout')
  const maxConcurrent = settings.number('sonatina.http.limits.max-concurrent')
  const perSecond = settings.number('sonatina.http.limits.requests-per-second')
  const managementPort = settings.number('sonatina.management.port')
  const cors = resolveCors(settings)
  const tls = resolveTls(settings)
  return {
    host: settings.text('sonatina.http.host', DEFAULTS.host),
    port: resolvePort(settings),
    rootPath: resolveRootPath(settings.text('sonatina.http.root-path', '/')),
    ...(serviceUrl === undefined ? {} : { serviceUrl }),
    forwarding: settings.boolean('sonatina.http.proxy.proxy-address-forwarding', DEFAULTS.forwarding),
    maxBodySize: settings.size('sonatina.http.limits.max-body-size', DEFAULTS.maxBodySize),
    maxDepth: settings.number('sonatina.http.limits.max-depth', DEFAULTS.maxDepth),
    maxHeaderSize: settings.size('sonatina.http.limits.max-header-size', DEFAULTS.maxHeaderSize),
    headersTimeout: settings.duration('sonatina.http.headers-timeout', DEFAULTS.headersTimeout),
    requestTimeout: settings.duration('sonatina.http.request-timeout', DEFAULTS.requestTimeout),
    idleTimeout: settings.duration('sonatina.http.idle-timeout', DEFAULTS.idleTimeout),
    ...(answerTimeout === undefined ? {} : { answerTimeout }),
    instancesLimit: settings.number('sonatina.instances.limit', DEFAULTS.instancesLimit),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(perSecond === undefined ? {} : { rate: { perSecond, burst: settings.number('sonatina.http.limits.burst', Math.max(1, Math.ceil(perSecond))) } }),
    management: settings.boolean('sonatina.process-management.enabled', DEFAULTS.management),
    ...(managementPort === undefined ? {} : { managementPort }),
    swaggerUi: settings.boolean('sonatina.swagger-ui.always-include', settings.profile === 'dev'),
    metrics: settings.boolean('sonatina.metrics.enabled', DEFAULTS.metrics),
    upload: settings.boolean('sonatina.definitions.upload', DEFAULTS.upload),
    accessLog: settings.boolean('sonatina.http.access-log.enabled', DEFAULTS.accessLog),
    strict: settings.boolean('sonatina.definitions.strict', DEFAULTS.strict),
    ...(cors === undefined ? {} : { cors }),
    ...(tls === undefined ? {} : { tls }),
    eventPaths: resolveEventPaths(settings),
    anonymousSources: settings.languageProfile === 'sonataflow',
    shutdownDelay: settings.duration('sonatina.shutdown.delay', DEFAULTS.shutdownDelay),
  }
}

function resolvePort(settings: Settings): number {
  if (settings.profile === 'test' && !settings.has('sonatina.http.port')) return settings.number('sonatina.http.test-port', 8081)
  return settings.number('sonatina.http.port', DEFAULTS.port)
}

function resolveRootPath(text: string): string {
  const path = `/${text.replace(/^\/+|\/+$/g, '')}`
  if (path === '/') return ''
  if (/^(?:\/[A-Za-z0-9._~-]+)+$/.test(path)) return path
  throw invalid('sonatina.http.root-path', text, 'a path of letters, digits and . _ ~ - such as /workflows')
}

// A reference to a Knative service (`services.v1.serving.knative.dev/<namespace>/<name>`) is resolved by that platform; elsewhere the
// address comes from the request.
const KNATIVE_REFERENCE = /^(?:knative:)?[a-z]+\.v\d\w*\.[a-z.]+\//

function resolveServiceUrl(text: string): string | undefined {
  if (KNATIVE_REFERENCE.test(text)) return undefined
  if (/^https?:\/\/[^\s?#]+$/i.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw invalid('sonatina.service.url', text, 'an address such as https://flows.example.org')
}

function resolveCors(settings: Settings): CorsSettings | undefined {
  if (!settings.boolean('sonatina.http.cors.enabled', false)) return undefined
  const origins = settings.list('sonatina.http.cors.origins', [])
  if (origins.length === 0) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_MISSING',
      message: `CORS is on, but no origin is named. ${settings.describeMissing(['sonatina.http.cors.origins'])}`,
      details: { key: 'sonatina.http.cors.origins' },
    })
  }
  const credentials = settings.boolean('sonatina.http.cors.access-control-allow-credentials', false)
  const plain = origins.filter((origin) => origin !== '*' && !isPattern(origin))
  for (const origin of plain) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) throw invalid('sonatina.http.cors.origins', origin, 'origins such as https://app.example.org, without a path, or a pattern between slashes')
  }
  // Any page at all could then act for whoever is logged in.
  if (origins.includes('*') && credentials) throw invalid('sonatina.http.cors.origins', '*', 'named origins while sonatina.http.cors.access-control-allow-credentials is true')
  const maxAge = settings.duration('sonatina.http.cors.access-control-max-age')
  return {
    origins: plain,
    patterns: [...(origins.includes('*') ? [/^/] : []), ...origins.filter(isPattern).map(toPattern)],
    methods: settings.list('sonatina.http.cors.methods', []),
    headers: settings.list('sonatina.http.cors.headers', []),
    exposedHeaders: settings.list('sonatina.http.cors.exposed-headers', []),
    ...(maxAge === undefined ? {} : { maxAge: Math.floor(maxAge / 1000) }),
    credentials,
  }
}

// SonataFlow's projects write patterns between slashes.
function isPattern(origin: string): boolean {
  return origin.length > 2 && origin.startsWith('/') && origin.endsWith('/')
}

function toPattern(origin: string): RegExp {
  try {
    return new RegExp(`^(?:${origin.slice(1, -1)})$`)
  } catch (cause) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `sonatina.http.cors.origins is "${origin}", which is no regular expression: ${(cause as Error).message}`,
      details: { key: 'sonatina.http.cors.origins' },
      cause,
    })
  }
}

function resolveTls(settings: Settings): TlsSettings | undefined {
  const certificates = settings.list('sonatina.http.ssl.certificate.files', [])
  const keys = settings.list('sonatina.http.ssl.certificate.key-files', [])
  const clientAuth = settings.text('sonatina.http.ssl.client-auth', 'none') as TlsSettings['clientAuth']
  if (certificates.length === 0 && keys.length === 0) {
    if (clientAuth === 'none') return undefined
    throw invalid('sonatina.http.ssl.client-auth', clientAuth, 'none while there is no sonatina.http.ssl.certificate.files: only TLS knows client certificates')
  }
  if (certificates.length !== keys.length) {
    throw invalid('sonatina.http.ssl.certificate.key-files', keys.join(','), 'one key for each of sonatina.http.ssl.certificate.files')
  }
  const authorities = settings.text('sonatina.http.ssl.certificate.trust-store-file')
  return {
    certificates: certificates.map((file) => readPem('sonatina.http.ssl.certificate.files', file)),
    keys: keys.map((file) => readPem('sonatina.http.ssl.certificate.key-files', file)),
    ...(authorities === undefined ? {} : { authorities: readPem('sonatina.http.ssl.certificate.trust-store-file', authorities) }),
    clientAuth,
  }
}

function readPem(key: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: `${key}: file ${file} cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown reason'}).`,
      details: { key },
      cause,
    })
  }
}

function resolveEventPaths(settings: Settings): Record<string, string> {
  const paths: Record<string, string> = {}
  for (const channel of settings.segments('sonatina.messaging.incoming')) {
    const prefix = `sonatina.messaging.incoming.${/[."\s]/.test(channel) ? JSON.stringify(channel) : channel}`
    const path = settings.text(`${prefix}.path`)
    const type = settings.text(`${prefix}.type`)
    if (path === undefined) continue
    if (!/^\/[^\s?#]*$/.test(path)) throw invalid(`${prefix}.path`, path, 'a path that begins with a slash')
    paths[type ?? channel] = path
  }
  return paths
}

function invalid(key: string, value: string, expected: string): ConfigurationError {
  return new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${key} is "${value}"; it should be ${expected}.`, details: { key } })
}
