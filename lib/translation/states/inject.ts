import type { InjectState } from '../../definition/index.ts'
import { addStep, type PathScope } from '../scope.ts'
import { leave } from '../transitions.ts'

/** Translates an inject state: its data is merged and wins (S070–S074, A17). */
export function translateInject(path: PathScope, state: InjectState): string {
  const next = leave(path, 'leave', state, { completed: true, output: true })
  return addStep(path, 'inject', [{ type: 'inject', params: { ...path.address } }], [{ target: next }], next)
}
