import { isJsonObject } from '../common/index.ts'
import { auditDecisions } from './audit-decisions.ts'
import { auditSet } from './audit-set.ts'
import { nameOf } from './documents.ts'
import type { AuditSubject, Finding, Severity } from './finding.ts'
import { resolveValues, type ResolvedInputs } from './inputs.ts'
import { inferTenants } from './infer-tenants.ts'
import { validateDocument } from './validate.ts'

/** What an audit knows besides the documents. */
export interface AuditOptions {
  /** Tenants and values; with them the set is compared with what the generator makes. @default read off the documents */
  readonly inputs?: ResolvedInputs
  /** @default 'istio-system' */
  readonly rootNamespace?: string
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

/**
 * Audits a set of documents: mistakes in them, and calls between tenants that they let through (tenancy.md, section 5).
 *
 * Calls are only asked about when all documents are valid: an invalid one is never half evaluated.
 *
 * @returns findings, the worst first
 */
export function audit(documents: readonly unknown[], options: AuditOptions = {}): Finding[] {
  const faults = documents.flatMap(faultsOf)
  const objects = documents.filter(isJsonObject)
  const subject: AuditSubject = {
    documents: objects,
    tenants: options.inputs?.tenants ?? inferTenants(objects),
    values: options.inputs?.values ?? resolveValues({}, 'defaults'),
    isGiven: options.inputs !== undefined,
    rootNamespace: options.rootNamespace ?? 'istio-system',
  }
  const findings = [...faults, ...auditSet(subject), ...(faults.length === 0 ? auditDecisions(subject) : [])]
  return withoutRepeats(findings).sort((left, right) => RANK[left.severity] - RANK[right.severity] || left.code.localeCompare(right.code))
}

function faultsOf(document: unknown, index: number): Finding[] {
  const position = `#${String(index + 1)}`
  const name = isJsonObject(document) ? nameOf(document, position) : position
  return validateDocument(document).map(({ pointer, message, hint }): Finding => ({
    code: message.startsWith('unknown field') ? 'UNKNOWN_FIELD' : /null|at least one field with a value/.test(message) ? 'EMPTY_LIST' : 'INVALID_DOCUMENT',
    severity: 'error',
    document: name,
    message: `${pointer === '' ? '' : `${pointer}: `}${message}; calls are not audited until this is mended`,
    cure: hint ?? 'correct the document; sonatina policies validate lists all faults',
  }))
}

function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>()
  return findings.filter((finding) => {
    const key = JSON.stringify([finding.code, finding.document, finding.message])
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
