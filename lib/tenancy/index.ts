export { audit, type AuditOptions } from './audit.ts'
export type { Call, Destination } from './call.ts'
export { parseCall, type CallText, type CallTextOptions } from './call-text.ts'
export { chartFiles } from './chart.ts'
export type { Connection, HttpContext, HttpMiddleware, HttpRequest } from './connection.ts'
export { diffDocuments, type DocumentDifference } from './diff.ts'
export { parseValue, type DocumentViolation, type LoadedDocument, type ParsedDocuments } from './documents.ts'
export { createEnforcer, enforce, type EnforceOptions, type Enforcer, type EnforcerStatus } from './enforce.ts'
export {
  createEvaluator,
  evaluate,
  type Decision,
  type Evaluator,
  type EvaluatorOptions,
  type ExternalAnswer,
  type Outcome,
  type Reason,
  type Verdict,
  type WorkloadEvaluator,
} from './evaluate.ts'
export type { Finding, FindingCode, Severity } from './finding.ts'
export { generateTenant, type GenerateOptions } from './generate.ts'
export { resolveInputs, resolveValues, type Component, type InputOptions, type ResolvedInputs, type ResolvedValues, type SharedValues, type Tenant } from './inputs.ts'
export { compareFiles, loadDocuments, loadText, writeFiles, type FileState, type LoadedFiles } from './io.ts'
export { parseMatrix, runMatrix, type Matrix, type MatrixResult, type MatrixRow } from './matrix.ts'
export { headerOf, renderFiles, renderStream, type RenderedFile, type RenderFormat, type RenderOptions } from './render.ts'
export { generateMesh, generateSystem, type MeshKind } from './system.ts'
export { tenantTable, type TenantTableRow } from './tenant-table.ts'
export { toServerOptions, type TlsMaterial, type TlsMode, type TlsServerOptions } from './tls.ts'
export type {
  Action,
  AuthorizationPolicy,
  AuthorizationPolicySpec,
  Condition,
  MtlsMode,
  ObjectMeta,
  Operation,
  PeerAuthentication,
  PolicyDocument,
  Rule,
  Selector,
  ServiceMeshMemberRoll,
  Source,
  TargetRef,
} from './types.ts'
export { describeViolation, invalidDocuments, isKnownKind, validateLoaded } from './validate.ts'
