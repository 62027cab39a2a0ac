import { Cancellation } from '../common/index.ts'
import type { MaybePromise } from '../expressions/index.ts'
import type { Prepared } from './commands.ts'

/**
 * Makes the call of a prepared action now, if it may be made before the turn is over: where nothing has to be written first, and where it
 * changes nothing outside. What takes time stays a command, with the call under way.
 */
export function callAtOnce(prepared: Prepared, which: 'all' | 'pure' | undefined): MaybePromise<Prepared> {
  if (prepared.kind !== 'command' || which === undefined) return prepared
  const { command } = prepared
  if (command.kind !== 'call' || command.detached || (which === 'pure' && command.isPure !== true)) return prepared
  const cancellation = new Cancellation()
  const outcome = command.run(cancellation)
  if (outcome instanceof Promise) return { kind: 'command', command: { begun: { cancellation, outcome }, ...command } }
  return 'prepared' in outcome ? outcome.prepared : { kind: 'outcome', outcome }
}
