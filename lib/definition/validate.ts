import type { Violation } from '../errors/index.ts'
import { findSchemaViolations } from './schema-violations.ts'
export function validate(document: unknown, _options: object = {}): readonly Violation[] { return findSchemaViolations(document, 'tolerant') }
