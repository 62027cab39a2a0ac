import type { JsonObject } from '../common/index.ts'
import type { ResolvedInputs, Tenant } from './inputs.ts'

/** What kind of gap or mistake a finding is about (tenancy.md, section 5). */
export type FindingCode =
  | 'GATEWAY_IDENTITY' | 'HOST_PATH_OR' | 'ACTIVATOR_HEADERS' | 'DRAIN_OPEN' | 'SYSTEM_IDENTITY_WIDE' | 'NO_METHODS' | 'HOST_PORT'
  | 'UNKNOWN_FIELD' | 'INVALID_DOCUMENT' | 'EMPTY_LIST' | 'ALLOW_ALL' | 'NO_DEFAULT_DENY' | 'OVERLAP' | 'MISSING_DOCUMENT' | 'EXTRA_DOCUMENT'
  | 'PERMISSIVE_MTLS'

/** How bad a finding is: `error` means that the isolation does not hold. */
export type Severity = 'error' | 'warning' | 'info'

/** One gap or mistake, with its cure. */
export interface Finding {
  readonly code: FindingCode
  readonly severity: Severity
  /** `namespace/name` of the document that causes it, where one does. */
  readonly document?: string
  readonly message: string
  readonly cure: string
  /** Row of the call matrix that shows it. */
  readonly row?: string
}

/** What auditors work on. */
export interface AuditSubject {
  readonly documents: readonly JsonObject[]
  readonly tenants: readonly Tenant[]
  readonly values: ResolvedInputs['values']
  /** Whether tenants were given, not read off the documents. */
  readonly isGiven: boolean
  readonly rootNamespace: string
}
