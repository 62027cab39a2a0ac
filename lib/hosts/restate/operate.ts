import type { JsonObject } from '../../common/index.ts'
import { SonatinaError } from '../../errors/index.ts'
import { mergeObjects } from '../../expressions/index.ts'
import type { Instance } from '../../instance/index.ts'
import type { LiveInstance } from '../live-instance.ts'
import { instanceNotFound, nodeNotFound, notFailed } from '../operators.ts'
import type { Operation } from './messages.ts'

/**
 * Does to an instance what an operator asks for.
 *
 * @throws {@link InstanceError} `INSTANCE_NOT_FOUND` for one of another workflow, `INSTANCE_NOT_FAILED`, `NODE_NOT_FOUND`
 */
export function operate({ instance, facts, workflow }: LiveInstance, workflowId: string, operation: Operation): void {
  if (facts.workflowId !== workflowId) throw instanceNotFound(workflowId, facts.id)
  switch (operation.name) {
    case 'replaceData': instance.replaceData(operation.data); return
    // Arrays replace, whatever the profile: this is an operator's patch, not the result of an action.
    case 'mergeData': instance.replaceData(mergeObjects((instance.data ?? {}) as JsonObject, operation.data, 'sonataflow')); return
    case 'abort': instance.abort(); return
    case 'retrigger': case 'skip':
      if (instance.status !== 'error') throw notFailed(workflowId, facts.id)
      instance[operation.name]()
      return
    case 'trigger': {
      const state = workflow.program.stateIndex.get(operation.nodeId.split('/')[0] ?? '')
      if (state === undefined) throw nodeNotFound(operation.nodeId)
      instance.trigger(state)
      return
    }
    default: operateOnNode(instance, operation)
  }
}

function operateOnNode(instance: Instance, operation: Extract<Operation, { readonly nodeInstanceId: string }>): void {
  const { nodeInstanceId: token } = operation
  const effect = instance.pending.get(token)?.input.effect
  if (effect === undefined) throw nodeNotFound(token)
  switch (operation.name) {
    case 'retriggerNode': instance.repeat(token); return
    case 'cancelNode':
      if (effect === 'timer') instance.fire(token)
      else instance.settle(token, { output: {} })
      return
    case 'reschedule':
      if (effect !== 'timer') throw nodeNotFound(token)
      instance.reschedule(token, operation.dueAt)
  }
}

/** A refusal in a form that can be sent; what is no refusal is thrown again. */
export function refusalOf(error: unknown): { code: string; message: string; details: JsonObject } {
  if (SonatinaError.is(error)) return { code: error.code, message: error.message, details: error.details as JsonObject }
  throw error
}
