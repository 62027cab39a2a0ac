import { toWorkflowError, type Continuation } from '../instance/index.ts'
import { validateInput } from './births.ts'
import type { InstanceRecord } from './host.ts'
import { recordOf, toFailure, type LiveInstance, type UnplacedStep } from './live-instance.ts'
import type { Ends, Parts } from './parts.ts'

/** Creates what ends instances. */
export function createEnds(parts: Parts): Ends {
  const { options, lives, waits, queue } = parts

  function conclude(live: LiveInstance): void {
    if (live.instance.status === 'error') {
      const { failure, data } = recordOf(live)
      live.report?.({ type: 'failed', ...(failure === undefined ? {} : { nodeId: failure.failedNodeId, detail: { ...failure } }), data })
      return
    }
    checkOutput(live)
    live.endedAt = options.clock.now()
    live.report?.(endStep(recordOf(live), live.instance.continuation))
  }

  function end(live: LiveInstance): void {
    if (live.durable === undefined) conclude(live)
    drop(live)
    if (live.isAlone !== true) for (const childId of live.dependents) stop(childId)
    const { continuation } = live.instance
    const awaited = live.facts.parent?.token !== undefined
    if (continuation !== undefined && !awaited && live.durable === undefined) queue.add(() => { continueAs(live.facts, continuation) })
    const record = recordOf(live)
    options.log.debug({ instance: live.facts.id, status: record.status }, 'instance ended')
    options.onRest?.(record, live.facts)
    parts.turns.release(live)
    parts.subflows.moved(live)
  }

  function fail(live: LiveInstance): void {
    if (live.durable === undefined) conclude(live)
    waits.update(live)
    const record = recordOf(live)
    options.log.error({ instance: live.facts.id, workflow: live.facts.workflowId, failure: record.failure }, 'instance failed')
    options.onRest?.(record, live.facts)
    parts.turns.release(live)
    parts.subflows.moved(live)
  }

  function drop(live: LiveInstance): void {
    if (live.isAlone !== true) {
      for (const cancel of live.timers.values()) cancel()
      for (const call of live.calls.values()) call.abort()
      live.timers.clear()
      live.calls.clear()
    }
    waits.remove(live)
    // What outlives the process is remembered by the store, if it is: what could not be written has not been.
    if (lives.remove(live) && live.durable === undefined) lives.remember(live)
  }

  function stop(id: string): void {
    const live = parts.durables === undefined ? lives.get(id) : parts.durables.find(id)
    if (live === undefined) {
      parts.durables?.done(stopId(id))
      return
    }
    if (parts.durables !== undefined && live.durable !== undefined) {
      // A second abort would give up the compensation that the first has begun.
      if (!parts.durables.carry(stopId(id))) return
      live.durable.alongside.push(parts.durables.carried(stopId(id)))
    }
    parts.turns.turn(live, () => { live.instance.abort() })
  }

  /** S276: another instance goes on with the data. */
  function continueAs({ headers, id }: LiveInstance['facts'], { workflowId, version, input, timeout }: Continuation, effectId?: string): void {
    try {
      const workflow = parts.births.workflow(workflowId, version)
      validateInput(workflow, input)
      parts.births.begin(parts.births.create({
        workflow,
        input,
        headers,
        ...(timeout === undefined ? {} : { timeout }),
        ...(effectId === undefined ? {} : { effectId }),
      }))
    } catch (error) {
      options.log.error({ instance: id, error: toWorkflowError(error) }, 'workflow could not continue as another')
      if (effectId !== undefined) parts.durables?.done(effectId)
    }
  }

  return { conclude, end, fail, drop, stop, continue: continueAs }
}

/** Id of the intention to abort an instance. */
export function stopId(instanceId: string): string {
  return `stop:${instanceId}`
}

/** The output schema, and the message with which a state says that the whole came to nothing (http-contract.md §4). */
export function checkOutput(live: LiveInstance): void {
  if (live.instance.status !== 'completed') return
  const { program, validateOutput } = live.workflow
  const { data } = live.instance
  const state = program.states[live.instance.context.state ?? 0]
  const violations = validateOutput?.(data) ?? []
  if (violations.length > 0) {
    const message = `The output violates its schema: ${violations.map(({ pointer, message: reason }) => `${pointer || '/'} ${reason}`).join('; ')}`
    live.failure = toFailure({ name: 'DataInputError', code: 'DATA_OUTPUT_INVALID', message }, state?.state.name ?? '')
    return
  }
  const text = state?.errorMessage?.evaluate(data, live.instance.bindings(live.instance.context))
  if (typeof text === 'string' && text.trim() !== '') {
    live.failure = toFailure({ name: 'InstanceError', code: 'INSTANCE_FAILED', message: text }, state?.state.name ?? '')
  }
}

/** The last step of an instance that has ended. */
export function endStep({ status, data, failure }: InstanceRecord, continuation: Continuation | undefined): UnplacedStep {
  if (failure !== undefined) return { type: 'failed', nodeId: failure.failedNodeId, detail: { ...failure }, data }
  if (status !== 'completed') return { type: 'aborted', data }
  if (continuation === undefined) return { type: 'completed', data }
  const { workflowId, version, input } = continuation
  return { type: 'completed', data, detail: { continueAs: { workflowId, data: input, ...(version === undefined ? {} : { version }) } } }
}
