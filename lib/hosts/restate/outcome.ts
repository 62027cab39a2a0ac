import type { Json } from '../../common/index.ts'
import type { MaybePromise } from '../../expressions/index.ts'
import { toWorkflowError, type CallCommand, type Outcome as InstanceOutcome, type Result } from '../../instance/index.ts'
import type { Outcome } from './messages.ts'

/**
 * Carries a call out to its end and gives what it came to in a form that can be sent.
 *
 * Where expressions take time a call first gives what is to be done next: that is done here as well. Never throws.
 */
export async function perform(command: CallCommand, signal: AbortSignal): Promise<Outcome> {
  try {
    let outcome = await command.run(signal)
    for (;;) {
      if (!('prepared' in outcome)) return plain(outcome)
      const { prepared } = outcome
      if (prepared.kind === 'outcome') return plain(prepared.outcome)
      if (prepared.kind === 'publish') return { event: prepared.event }
      if (prepared.kind === 'await') return { awaits: prepared.type }
      const next = prepared.command
      if (next.kind === 'subflow') {
        const { token, workflowId, version, input, variables, detached, onParentComplete } = next
        return { subflow: { token, workflowId, input, detached, onParentComplete, ...(version === undefined ? {} : { version }), ...(variables === undefined ? {} : { variables }) } }
      }
      if (next.detached) return { detached: true }
      outcome = await next.run(signal)
    }
  } catch (error) {
    return { error: toWorkflowError(error) }
  }
}

// What is undefined does not survive the way: absent stays absent.
function plain(result: Result): Result {
  return 'output' in result ? { output: result.output ?? {} } : result
}

/** Gives an outcome the form that an instance takes. */
export function reviveOutcome(token: string, outcome: Outcome, finish: (output: Json) => MaybePromise<InstanceOutcome>): InstanceOutcome {
  if ('event' in outcome) return { prepared: { kind: 'publish', event: outcome.event } }
  if ('awaits' in outcome) return { prepared: { kind: 'await', type: outcome.awaits } }
  if ('subflow' in outcome) return { prepared: { kind: 'command', command: { kind: 'subflow', ...outcome.subflow, finish } } }
  // The instance hands it out with what it was prepared from; that is what is carried out.
  if ('detached' in outcome) return { prepared: { kind: 'command', command: { kind: 'call', token, detached: true, run: () => ({ output: {} }) } } }
  return outcome
}
