import type { JsonObject } from '../../common/index.ts'
import type { Definition } from '../types.ts'
import { checkErrors } from './errors.ts'
import { checkEvents } from './events.ts'
import { checkCompensation, checkFlow, checkRunBefore } from './flow.ts'
import { checkFunctions } from './functions.ts'
import { checkIdentity } from './identity.ts'
import { checkTimes } from './schedule.ts'
import { createScope, type SemanticFinding, type SemanticScope } from './scope.ts'
import { checkSecrets } from './secrets.ts'
import { checkStates } from './states.ts'

const CHECKS: readonly ((scope: SemanticScope) => void)[] = [
  checkIdentity, checkTimes, checkFunctions, checkEvents, checkErrors, checkFlow, checkRunBefore, checkCompensation, checkStates, checkSecrets,
]

/**
 * Finds the faults that a schema cannot see: names that do not exist, things that exclude each other, numbers out of
 * range (S017).
 */
export function checkSemantics(definition: Definition, document: JsonObject): readonly SemanticFinding[] {
  const findings: SemanticFinding[] = []
  const scope = createScope(definition, document, findings)
  for (const check of CHECKS) check(scope)
  return findings
}
