import { OIDC_CLIENT, REST_CLIENT, SECURITY_SCHEMES } from './clients.ts'
import type { SettingSection } from './definition.ts'
import { ACCESS, HTTP, RUNTIME } from './runtime.ts'

/** Every setting of the product, in the order of docs/configuration.md, which a test compares with it. */
export const CATALOGUE: readonly SettingSection[] = [
  { title: 'Runtime', settings: RUNTIME },
  { title: 'HTTP server', settings: HTTP },
  { title: 'Access to the service', settings: ACCESS },
  { title: 'Remote REST services', settings: REST_CLIENT },
  { title: 'OAuth 2.0 clients', settings: OIDC_CLIENT },
  { title: 'Security schemes', settings: SECURITY_SCHEMES },
]
