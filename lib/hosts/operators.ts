import type { Json, JsonObject } from '../common/index.ts'
import { InstanceError } from '../errors/index.ts'
import { mergeObjects } from '../expressions/index.ts'
import type { Instance } from '../instance/index.ts'
import { asError } from './as-error.ts'
import type { Host, InstanceRecord } from './host.ts'
import { recordOf, statusOf, type LiveInstance } from './live-instance.ts'
import type { Parts } from './parts.ts'

/** What operators may do with an instance. */
export type Operators = Pick<Host, 'replaceData' | 'mergeData' | 'abort' | 'retrigger' | 'skip' | 'trigger' | 'retriggerNode' | 'cancelNode' | 'reschedule'>

type Move = (live: LiveInstance) => void

/** Creates what carries out the calls of operators: each makes a turn of a live instance and answers when it is quiet again. */
export function createOperators(parts: Parts): Operators {
  const find = (workflowId: string, instanceId: string): LiveInstance | undefined => {
    const live = parts.durables === undefined ? parts.lives.get(instanceId) : parts.durables.find(instanceId)
    return live?.facts.workflowId === workflowId ? live : undefined
  }

  function operate(workflowId: string, instanceId: string, move: Move): Promise<InstanceRecord> {
    return new Promise((resolve, reject) => {
      parts.queue.add(() => {
        try {
          const problem = parts.durables?.problem
          if (problem !== undefined) throw problem
          const live = find(workflowId, instanceId)
          if (live === undefined) throw instanceNotFound(workflowId, instanceId)
          parts.turns.turn(live, () => {
            // Until its end is safe an instance is here; nobody is told of an end that could still be lost.
            if (hasEnded(live)) {
              live.waiters.push((_, error) => { reject(error ?? instanceNotFound(workflowId, instanceId)) })
              return
            }
            move(live)
            live.waiters.push((_, error) => { if (error === undefined) resolve(recordOf(live)); else reject(error) })
          })
        } catch (error) {
          reject(asError(error))
        }
      })
    })
  }

  function repair(workflowId: string, instanceId: string, move: Move): Promise<InstanceRecord> {
    return operate(workflowId, instanceId, (live) => {
      if (statusOf(live) !== 'error') throw notFailed(workflowId, instanceId)
      move(live)
    })
  }

  return {
    replaceData: (workflowId: string, instanceId: string, data: Json) => operate(workflowId, instanceId, ({ instance }) => { instance.replaceData(data) }),
    // Arrays replace, whatever the profile: this is an operator's patch, not the result of an action.
    mergeData: (workflowId: string, instanceId: string, data: JsonObject) => operate(workflowId, instanceId, ({ instance }) => {
      instance.replaceData(mergeObjects((instance.data ?? {}) as JsonObject, data, 'sonataflow'))
    }),
    abort: (workflowId, instanceId) => operate(workflowId, instanceId, ({ instance }) => { instance.abort() }),
    retrigger: (workflowId, instanceId) => repair(workflowId, instanceId, ({ instance }) => { instance.retrigger() }),
    skip: (workflowId, instanceId) => repair(workflowId, instanceId, ({ instance }) => { instance.skip() }),
    trigger: (workflowId, instanceId, nodeId) => operate(workflowId, instanceId, ({ instance, workflow }) => {
      const state = workflow.program.stateIndex.get(nodeId.split('/')[0] ?? '')
      if (state === undefined) throw nodeNotFound(nodeId)
      instance.trigger(state)
    }),
    retriggerNode: (workflowId, instanceId, nodeInstanceId) => operate(workflowId, instanceId, ({ instance }) => {
      assertPending(instance, nodeInstanceId)
      instance.repeat(nodeInstanceId)
    }),
    cancelNode: (workflowId, instanceId, nodeInstanceId) => operate(workflowId, instanceId, ({ instance }) => {
      if (assertPending(instance, nodeInstanceId) === 'timer') instance.fire(nodeInstanceId)
      else instance.settle(nodeInstanceId, { output: {} })
    }),
    reschedule: (workflowId, instanceId, nodeInstanceId, dueAt) => operate(workflowId, instanceId, ({ instance }) => {
      if (assertPending(instance, nodeInstanceId) !== 'timer') throw nodeNotFound(nodeInstanceId)
      instance.reschedule(nodeInstanceId, dueAt)
    }),
  }
}

/** An instance that is not there, or has ended. */
export function instanceNotFound(workflowId: string, instanceId: string): InstanceError {
  const message = `Workflow "${workflowId}" has no live instance ${instanceId}; it may have ended`
  return new InstanceError({ code: 'INSTANCE_NOT_FOUND', message, details: { processInstanceId: instanceId } })
}

/** An instance that is to be repaired and did not fail. */
export function notFailed(workflowId: string, instanceId: string): InstanceError {
  const message = `Instance ${instanceId} of "${workflowId}" is not in error; only failed instances can be retriggered or skipped`
  return new InstanceError({ code: 'INSTANCE_NOT_FAILED', message, details: { processInstanceId: instanceId } })
}

/** A node, or waiting node instance, that is not there. */
export function nodeNotFound(nodeId: string): InstanceError {
  return new InstanceError({ code: 'NODE_NOT_FOUND', message: `There is no node or waiting node instance "${nodeId}"`, details: { nodeId } })
}

/** Whether an instance has come to its end, written or not. */
export function hasEnded(live: LiveInstance): boolean {
  const status = statusOf(live)
  return status === 'completed' || status === 'aborted'
}

function assertPending(instance: Instance, token: string): string {
  const effect = instance.pending.get(token)
  if (effect === undefined) throw nodeNotFound(token)
  return effect.input.effect
}
