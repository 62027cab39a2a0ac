import { isJsonObject, type JsonObject } from '../common/index.ts'
import { TenancyError, type Violation } from '../errors/index.ts'
import { nameOf, type DocumentViolation, type LoadedDocument } from './documents.ts'
import { DOCUMENT_SCHEMAS } from './schema.ts'
import type { AuthorizationPolicy } from './types.ts'
import { checkPeerAuthentication, checkPolicy } from './validate-policy.ts'
import { compileSchema } from './validate-schema.ts'

/** The kinds that validation knows; other objects are skipped. */
type KnownKind = keyof typeof DOCUMENT_SCHEMAS

const VALIDATORS: Readonly<Record<KnownKind, (document: JsonObject) => Violation[]>> = {
  AuthorizationPolicy: validator('AuthorizationPolicy', checkPolicy),
  PeerAuthentication: validator('PeerAuthentication', checkPeerAuthentication),
}

// Beyond these, more of them help nobody and fill the screen.
const MOST_VIOLATIONS = 100

function validator(kind: KnownKind, check: (document: JsonObject) => Violation[]): (document: JsonObject) => Violation[] {
  const schema = compileSchema(DOCUMENT_SCHEMAS[kind])
  return (document) => [...schema(document), ...check(document)].slice(0, MOST_VIOLATIONS)
}

/** Tells whether a document is of a kind that policies are made of. */
export function isKnownKind(document: JsonObject): boolean {
  return typeof document['kind'] === 'string' && Object.hasOwn(VALIDATORS, document['kind'])
}

/**
 * Validates one parsed object: schema with unknown fields refused, then what the schema cannot say.
 *
 * @returns all faults; none for an object of another kind
 */
export function validateDocument(document: unknown): Violation[] {
  if (!isJsonObject(document)) return [{ pointer: '', message: 'a Kubernetes object is expected here' }]
  if (typeof document['kind'] !== 'string') return [{ pointer: '/kind', message: 'the field "kind" is missing or not a text' }]
  return isKnownKind(document) ? VALIDATORS[document['kind'] as KnownKind](document) : []
}

/** Validates loaded objects; violations carry file, document and line. */
export function validateLoaded(documents: readonly LoadedDocument[]): DocumentViolation[] {
  return documents.flatMap((document) => validateDocument(document.value).map((violation) => {
    const line = document.line(violation.pointer)
    return { ...violation, document: document.name, file: document.file, ...(line === undefined ? {} : { line }) }
  }))
}

/**
 * Gives the AuthorizationPolicies of a list of parsed objects, all valid.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` naming document, JSON pointer and the nearest known field of the first fault;
 * `details.violations` has all of them
 */
export function assertPolicies(documents: readonly unknown[]): AuthorizationPolicy[] {
  const violations = documents.flatMap((document, index): DocumentViolation[] => {
    const position = `#${String(index + 1)}`
    const name = isJsonObject(document) ? nameOf(document, position) : position
    return validateDocument(document).map((violation) => ({ ...violation, document: name }))
  })
  if (violations.length > 0) throw invalidDocuments(violations)
  return documents.filter((document): document is AuthorizationPolicy & JsonObject => isJsonObject(document) && document['kind'] === 'AuthorizationPolicy')
}

/** Makes the error for invalid documents from their violations. */
export function invalidDocuments(violations: readonly DocumentViolation[]): TenancyError {
  const [first] = violations
  const rest = violations.length > 1 ? ` (and ${String(violations.length - 1)} more)` : ''
  return new TenancyError({
    code: 'TENANCY_INVALID',
    message: first === undefined ? 'the documents are invalid' : `${describeViolation(first)}${rest}`,
    details: { violations },
  })
}

/** Writes a violation in one line: place, what is wrong, what would be right. */
export function describeViolation(violation: DocumentViolation): string {
  const file = violation.file === undefined ? '' : `${violation.file}${violation.line === undefined ? '' : `:${String(violation.line)}`}: `
  const pointer = violation.pointer === '' ? '' : ` at ${violation.pointer}`
  const hint = violation.hint === undefined ? '' : `; ${violation.hint}`
  return `${file}document ${violation.document}${pointer}: ${violation.message}${hint}`
}
