import { CaseFault } from './case-fault.ts'

/** Needs of cases, as the README of the corpus sorts them. */
export const NEED_CLASSES = {
  language: [
    'jq', 'jsonpath', 'inject', 'operation', 'subflow', 'parallel', 'foreach', 'correlation', 'events', 'timers', 'errors', 'retries',
    'compensation', 'constants', 'secrets', 'schema', 'validation', 'sysout', 'resources', 'continueAs', 'schedule', 'keepActive', 'async',
    'script', 'extension-kpi', 'extension-ratelimiting',
  ],
  surface: [
    'openapi', 'asyncapi', 'knative', 'custom-type', 'headers', 'basic-auth', 'api-key', 'oauth', 'token-propagation', 'token-exchange',
    'management', 'openapi-document', 'health', 'lifecycle-events', 'dynamic', 'upload', 'live-reload', 'persistence', 'restart', 'otel',
    'circuit-breaker', 'data-index', 'grpc',
  ],
  runner: ['rest-mock', 'custom-function', 'stubs', 'sink', 'log', 'virtual-clock', 'host-resource'],
  outside: ['camel', 'dmn', 'script-python', 'network'],
} as const

/** What is not there, and why; a need that stands nowhere is unknown and fails its case. */
export const MISSING: Readonly<Record<string, string>> = {
  camel: 'outside: routes of Apache Camel are Java',
  dmn: 'outside: decision models run in a Java engine',
  'script-python': 'outside: no Python interpreter is embedded',
  network: 'outside: tests reach loopback only',
  'host-resource': 'outside: an HTTP resource of the Java application around the origin',
  'data-index': 'another service of the origin: a GraphQL index over the events of many runtimes',
  dynamic: 'calls into a running instance that its definition does not know',
  upload: 'definitions come from files; adding one over HTTP would need an authority of its own',
}

const KNOWN = new Set<string>(Object.values(NEED_CLASSES).flat())

/** Gives the needs that nobody meets. */
export function missingNeeds(needs: readonly string[]): readonly string[] {
  const unknown = needs.filter((need) => !KNOWN.has(need))
  if (unknown.length > 0) throw new CaseFault(`the case needs what this runner does not know: ${unknown.join(', ')}`)
  return needs.filter((need) => need in MISSING)
}
