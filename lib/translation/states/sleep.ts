import type { SleepState } from '../../definition/index.ts'
import { timer } from '../actions.ts'
import { metaOf, targetOf, type PathScope } from '../scope.ts'
import { leave } from '../transitions.ts'

/** Translates a sleep state: a timer (S055–S057). */
export function translateSleep(path: PathScope, state: SleepState): string {
  const next = leave(path, 'leave', state, { completed: true, output: true })
  path.nodes['sleep'] = {
    meta: metaOf(path, 'sleep'),
    invoke: [timer(path, 'sleep', { milliseconds: state.duration }, [{ target: next }])],
  }
  return targetOf(path, 'sleep')
}
