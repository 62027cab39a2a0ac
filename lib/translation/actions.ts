import type { Action } from '../definition/index.ts'
import type { Address, InvokeConfig, TransitionConfig } from './machine-config.ts'
import { metaOf, targetOf, type PathScope } from './scope.ts'
import { recordFailure } from './on-errors.ts'

/** Milliseconds an action may take, from the state's or branch's timeouts (A14: per attempt). */
export interface ActionLimits {
  readonly actionExecTimeout?: number
}

/**
 * Makes the nodes of actions that are performed one after another and gives the first target (S039, S040).
 *
 * An action is a node that invokes a service; around it stand, only where the definition asks for them, a gate for its
 * condition, sleeps before and after (S110), and the delay before a retry (S204–S220).
 */
export function addActions(path: PathScope, prefix: string, actions: readonly Action[], limits: ActionLimits, next: string): string {
  let following = next
  for (let index = actions.length - 1; index >= 0; index -= 1) {
    const action = actions[index] as Action
    following = addAction({ ...path, address: { ...path.address, action: index } }, `${prefix}a${String(index)}`, action, limits, following)
  }
  return following
}

/** Makes the nodes of one action and gives the first target. */
export function addAction(path: PathScope, key: string, action: Action, limits: ActionLimits, next: string): string {
  const name = actionName(action)
  const after = action.sleep.after === undefined ? next : addSleep(path, `${key}_after`, name, action.sleep.after, next)
  const skipped: readonly TransitionConfig[] = after === next || action.condition === undefined
    ? []
    : [{ target: next, guard: { type: 'wasSkipped' } }]
  const failure = [...retries(path, key, action), ...path.onFailure(path, key, after)]
  const gated = action.condition !== undefined && action.sleep.before !== undefined
  path.nodes[key] = {
    meta: metaOf(path, 'action', { action: name }),
    invoke: [
      ...waitForAnswer(path, key, action, limits, after),
      {
        id: `${path.id}.${key}`,
        src: 'action',
        input: { effect: 'action', ...path.address, ...(gated ? { gated } : {}) },
        onDone: action.eventRef?.resultEventRef !== undefined && action.eventRef.invoke === 'sync'
          ? [{ guard: { type: 'wasSkipped' }, target: next }]
          : [...skipped, { target: after, actions: [{ type: path.takeResult, params: { ...path.address } }] }],
        onError: failure,
      },
      ...timeout(path, key, action, limits, failure),
    ],
  }
  const perform = targetOf(path, key)
  const before = action.sleep.before === undefined ? perform : addSleep(path, `${key}_before`, name, action.sleep.before, perform)
  return gated ? addGate(path, `${key}_gate`, name, before, next) : before
}

/** Name to show for an action: its own, or that of what it calls. */
export function actionName(action: Action): string {
  return action.name ?? action.functionRef?.refName ?? action.subFlowRef?.workflowId ?? action.eventRef?.triggerEventRef ?? ''
}

function addSleep(path: PathScope, key: string, action: string, milliseconds: number, next: string): string {
  path.nodes[key] = {
    meta: metaOf(path, 'sleep', { action }),
    invoke: [timer(path, key, { milliseconds }, [{ target: next }])],
  }
  return targetOf(path, key)
}

function addGate(path: PathScope, key: string, action: string, perform: string, skip: string): string {
  path.nodes[key] = {
    meta: metaOf(path, 'action', { action }),
    invoke: [{
      id: `${path.id}.${key}`,
      src: 'condition',
      input: { effect: 'condition', ...path.address },
      onDone: [{ target: skip, guard: { type: 'wasSkipped' } }, { target: perform }],
      onError: path.onFailure(path, key, skip),
    }],
  }
  return targetOf(path, key)
}

/** Makes an invoked timer of a path; its due instant is fixed when it starts and survives a restart. */
export function timer(path: { readonly id: string; readonly address: Partial<Address> }, key: string, input: InvokeConfig['input'], onDone: readonly TransitionConfig[]): InvokeConfig {
  return { id: `${path.id}.${key}`, src: 'timer', input: { effect: 'timer', ...path.address, ...input }, onDone }
}

// The answer to an event action is awaited from before the trigger is sent, so that a fast one is not lost (S093, S103).
function waitForAnswer(path: PathScope, key: string, action: Action, limits: ActionLimits, next: string): readonly InvokeConfig[] {
  const { eventRef } = action
  if (eventRef?.resultEventRef === undefined || eventRef.invoke === 'async') return []
  const milliseconds = eventRef.resultEventTimeout ?? limits.actionExecTimeout
  const answer: InvokeConfig = {
    id: `${path.id}.${key}.answer`,
    src: 'event',
    input: { effect: 'event', ...path.address, events: [{ event: eventRef.resultEventRef }], answer: true },
    onDone: [{ target: next, actions: [{ type: path.takeResult, params: { ...path.address } }] }],
    onError: path.onFailure(path, key, next),
  }
  if (milliseconds === undefined) return [answer]
  const expired = path.onFailure(path, key, next)
  return [answer, timer(path, `${key}.answerTimeout`, { milliseconds, timeout: 'event' }, expired)]
}

function timeout(path: PathScope, key: string, action: Action, limits: ActionLimits, failure: readonly TransitionConfig[]): readonly InvokeConfig[] {
  if (limits.actionExecTimeout === undefined || action.eventRef !== undefined) return []
  return [timer(path, `${key}.timeout`, { milliseconds: limits.actionExecTimeout, timeout: 'action' }, failure)]
}

function retries(path: PathScope, key: string, action: Action): readonly TransitionConfig[] {
  const asynchronous = action.functionRef?.invoke === 'async' || action.subFlowRef?.invoke === 'async'
  if (asynchronous || (action.retryRef === undefined && !path.definition.autoRetries)) return []
  const retry = `${key}_retry`
  const params = { ...path.address, node: key }
  path.nodes[retry] = {
    meta: metaOf(path, 'retry', { action: actionName(action) }),
    invoke: [timer(path, retry, { retryOf: key }, [{ target: targetOf(path, key) }])],
  }
  return [{
    target: targetOf(path, retry),
    guard: { type: 'mayRetry', params },
    actions: [recordFailure(path, key), { type: 'scheduleRetry', params }],
    meta: { role: 'retry', name: action.retryRef ?? 'default' },
  }]
}
