import { toAbortSignal, type CancelSignal, type Json } from '../common/index.ts'
import { toWorkflowError, type Continuation, type ParentLink, type Result, type SubflowCommand } from '../instance/index.ts'
import { validateInput } from './births.ts'
import type { DeployedWorkflow } from './deployments.ts'
import { statusOf, subflowEndOf, type LiveInstance, type SubflowEnd } from './live-instance.ts'
import type { Parts, Subflows } from './parts.ts'

/** What a sub-flow is begun with. */
interface Opening {
  readonly workflow: DeployedWorkflow
  readonly input: Json
  readonly timeout?: number | undefined
  readonly effectId?: string | undefined
}

/** Creates what starts sub-flows and hands their results to their parents. */
export function createSubflows(parts: Parts): Subflows {
  const { options, lives, queue } = parts

  function start(live: LiveInstance, command: SubflowCommand, effectId?: string): void {
    live.starting.delete(command.token)
    if (!command.detached && (isGivenUp(live) || !live.instance.pending.has(command.token))) return
    const replacement = options.subflows?.get(command.workflowId)
    if (replacement !== undefined) {
      const run = async (signal: CancelSignal): Promise<Result> => {
        try {
          const outcome = await command.finish(await replacement(command.input, toAbortSignal(signal), command.version))
          return outcome as Result
        } catch (error) {
          return { error: toWorkflowError(error) }
        }
      }
      parts.turns.turn(live, () => { parts.turns.call(live, { kind: 'call', token: command.token, detached: command.detached, run }) })
      return
    }
    try {
      const workflow = parts.births.workflow(command.workflowId, command.version)
      validateInput(workflow, command.input)
      begin(live, command, { workflow, input: command.input, effectId })
    } catch (error) {
      if (effectId !== undefined) parts.durables?.done(effectId)
      parts.turns.turn(live, () => { live.instance.settle(command.token, { error: toWorkflowError(error) }) })
    }
  }

  function begin(parent: LiveInstance, command: SubflowCommand, { workflow, input, timeout, effectId }: Opening): void {
    const child = parts.births.create({
      workflow,
      input,
      headers: parent.facts.headers,
      parent: { live: parent, link: linkTo(parent, command) },
      ...(command.variables === undefined ? {} : { variables: command.variables }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(effectId === undefined ? {} : { effectId }),
    })
    if (command.detached && command.onParentComplete === 'terminate') parent.dependents.add(child.facts.id)
    if (!command.detached) parent.subflows.set(command.token, { command, childId: child.facts.id })
    parts.births.begin(child)
    parent.durable?.keeper.moved(parent)
  }

  function moved(child: LiveInstance): void {
    const link = child.facts.parent
    if (link === undefined) return
    const { token, instanceId } = link
    if (token === undefined) {
      lives.get(instanceId)?.dependents.delete(child.facts.id)
      return
    }
    const parent = parts.durables === undefined ? lives.get(instanceId) : parts.durables.find(instanceId)
    const subflow = parent?.subflows.get(token)
    if (parent === undefined || subflow?.childId !== child.facts.id) {
      if (child.endedAt !== undefined) parts.durables?.release(child.facts.id, instanceId)
      return
    }
    if (statusOf(child) === 'error' && child.endedAt === undefined) parts.ends.drop(child)
    deliver(parent, subflow.command, subflowEndOf(child))
  }

  function deliver(parent: LiveInstance, command: SubflowCommand, end: SubflowEnd): void {
    parent.subflows.delete(command.token)
    // The parent sees one invocation, however often its sub-flow continues as another (S194).
    parent.starting.add(command.token)
    const { continuation } = end
    if (end.status === 'completed' && continuation !== undefined) {
      queue.add(() => {
        if (isGivenUp(parent)) return
        take(parent, end)
        continueAs(parent, command, continuation)
      })
      return
    }
    queue.add(() => {
      if (!isGivenUp(parent)) parts.turns.turn(parent, () => { settle(parent, command, end) })
    })
  }

  /** The store failed meanwhile, and the instance goes on from what it holds. */
  function isGivenUp(live: LiveInstance): boolean {
    return live.durable !== undefined && lives.get(live.facts.id) !== live
  }

  /** The end of a sub-flow is kept until its parent has it: with the turn by which that goes on. */
  function take({ durable }: LiveInstance, { id }: SubflowEnd): void {
    durable?.alongside.push((journal) => { journal.release(id, (options.retention ?? 0) > 0) })
  }

  function continueAs(parent: LiveInstance, command: SubflowCommand, continuation: Continuation): void {
    parent.starting.delete(command.token)
    try {
      const workflow = parts.births.workflow(continuation.workflowId, continuation.version)
      begin(parent, command, { workflow, input: continuation.input, timeout: continuation.timeout })
    } catch (error) {
      parts.turns.turn(parent, () => { parent.instance.settle(command.token, { error: toWorkflowError(error) }) })
    }
  }

  function settle(parent: LiveInstance, command: SubflowCommand, end: SubflowEnd): void {
    parent.starting.delete(command.token)
    if (end.status !== 'completed') {
      const error = end.failure ?? { name: 'InstanceError', code: 'INSTANCE_ABORTED', message: `Sub-flow "${command.workflowId}" was aborted` }
      take(parent, end)
      parent.instance.settle(command.token, { error })
      return
    }
    const outcome = command.finish(end.data)
    if (outcome instanceof Promise) {
      const taken = outcome.finally(() => { take(parent, end) })
      parts.turns.call(parent, { kind: 'call', token: command.token, detached: false, run: () => taken })
      return
    }
    take(parent, end)
    parent.instance.settle(command.token, outcome)
  }

  return { start, moved, deliver }
}

/** The link of a sub-flow to the action that starts it. */
export function linkTo(parent: Pick<LiveInstance, 'facts'>, command: SubflowCommand): ParentLink {
  const { facts } = parent
  return {
    instanceId: facts.id,
    workflowId: facts.workflowId,
    rootInstanceId: facts.parent?.rootInstanceId ?? facts.id,
    rootWorkflowId: facts.parent?.rootWorkflowId ?? facts.workflowId,
    depth: (facts.parent?.depth ?? 0) + 1,
    onParentComplete: command.onParentComplete,
    ...(command.detached ? {} : { token: command.token }),
  }
}
