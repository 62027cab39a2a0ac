import { compact, isJsonObject } from '../../common/index.ts'
import type { StateType, Timeouts } from '../types.ts'
import { readMilliseconds, readObject, type ReadContext } from './read.ts'

/** Kinds of timeouts that a state or branch may have. */
export type TimeoutKind = keyof Timeouts

/** The timeouts that mean something in a state of each type (S036, S041, S052, S057, S068, S073, S084, S091). */
export const TIMEOUTS_OF_STATE: Readonly<Record<StateType, readonly TimeoutKind[]>> = {
  operation: ['stateExecTimeout', 'actionExecTimeout'],
  switch: ['stateExecTimeout', 'eventTimeout'],
  inject: ['stateExecTimeout'],
  parallel: ['stateExecTimeout', 'branchExecTimeout'],
  event: ['stateExecTimeout', 'actionExecTimeout', 'eventTimeout'],
  sleep: ['stateExecTimeout'],
  foreach: ['stateExecTimeout', 'actionExecTimeout'],
  callback: ['stateExecTimeout', 'actionExecTimeout', 'eventTimeout'],
}

/** The timeouts of a branch (S068). */
export const TIMEOUTS_OF_BRANCH: readonly TimeoutKind[] = ['actionExecTimeout', 'branchExecTimeout']

/** Reads timeouts as written, in milliseconds. */
export function readTimeouts(source: unknown, context: ReadContext): Timeouts {
  const timeouts = readObject(source)
  const state = timeouts['stateExecTimeout']
  const total = readMilliseconds(isJsonObject(state) ? state['total'] : state, context)
  return compact({
    stateExecTimeout: total === undefined
      ? undefined
      : compact({ total, single: readMilliseconds(readObject(state)['single'], context) }),
    actionExecTimeout: readMilliseconds(timeouts['actionExecTimeout'], context),
    branchExecTimeout: readMilliseconds(timeouts['branchExecTimeout'], context),
    eventTimeout: readMilliseconds(timeouts['eventTimeout'], context),
  })
}

/** Takes what is written, else what is inherited, for the kinds that apply (S224, S225). */
export function inheritTimeouts(own: Timeouts, inherited: Timeouts, kinds: readonly TimeoutKind[]): Timeouts {
  const all = { ...inherited, ...own }
  return Object.fromEntries(kinds.flatMap((kind) => all[kind] === undefined ? [] : [[kind, all[kind]]]))
}
