import type { JsonObject } from '../common/index.ts'
import type { LintWarning } from './types.ts'
export function lint(_document: JsonObject, _options: object): readonly LintWarning[] { return [] }
