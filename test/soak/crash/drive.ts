import { isDeepStrictEqual } from 'node:util'
import type { Json } from '../../../lib/common/index.ts'
import type { CloudEventRecord } from '../../../lib/events/index.ts'
import type { Runtime } from '../../../lib/runtime-options.ts'
import type { CrashWorkflow } from './workflows.ts'

/** An effect that a function had, or an event that was sent. */
export type Entry =
  | { readonly kind: 'effect'; readonly name: string; readonly key: string; readonly at: number }
  | { readonly kind: 'event'; readonly id: string; readonly data: Json }

/** What drives a workflow to its end. */
export interface Driver {
  readonly runtime: Runtime
  readonly workflow: CrashWorkflow
  /** What has happened so far, of all processes. */
  readonly entries: () => readonly Entry[]
  /** Lets a little time pass. */
  readonly tick: () => Promise<void>
}

const PATIENCE = 200

/** Starts a workflow, sends its events twice each, and does so again until it has finished; gives whether it has. */
export async function drive({ runtime, workflow, entries, tick }: Driver): Promise<boolean> {
  const { host } = runtime
  const isFinished = (): boolean => entries().some(({ kind }) => kind === 'event')
  const { id: workflowId, input, events } = workflow
  // After the kill the same start is sent again: it has to find the first instance, whether that lives or has ended.
  if (input !== undefined) await host.start({ workflowId, input, idempotencyKey: 'k', respondAsync: true })
  for (let rounds = 0; rounds < PATIENCE && !isFinished(); rounds += 1) {
    for (const event of events) for (let sent = 0; sent < 2; sent += 1) await host.deliver(event)
    await tick()
  }
  if (input !== undefined) await host.start({ workflowId, input, idempotencyKey: 'k', respondAsync: true })
  await runtime.quiet()
  await tick()
  await runtime.quiet()
  return isFinished()
}

/** The event that the host is given to record what it produces. */
export function produced({ id, data }: CloudEventRecord): Entry {
  return { kind: 'event', id, data: data ?? null }
}

/** What is wrong with what has happened: empty when all is exact. */
export function faultsOf(workflow: CrashWorkflow, entries: readonly Entry[]): readonly string[] {
  const faults: string[] = []
  const effects = entries.filter((entry) => entry.kind === 'effect')
  const names = [...new Map(effects.map((effect) => [effect.key, effect.name])).values()].sort()
  if (!isDeepStrictEqual(names, workflow.effects)) faults.push(`effects are ${names.join(' ')}, expected ${workflow.effects.join(' ')}`)
  const events = entries.filter((entry) => entry.kind === 'event')
  if (new Set(events.map(({ id }) => id)).size !== 1) faults.push(`produced events are ${events.map(({ id }) => id).join(' ')}, expected one`)
  for (const { data } of events) if (!isDeepStrictEqual(data, workflow.result)) faults.push(`the result is ${JSON.stringify(data)}, expected ${JSON.stringify(workflow.result)}`)
  const { timer } = workflow
  if (timer !== undefined) {
    const last = Math.max(...effects.filter(({ name }) => name === timer.before).map(({ at }) => at))
    const first = Math.min(...effects.filter(({ name }) => name === timer.after).map(({ at }) => at))
    const between = first - Math.min(last, ...effects.filter(({ name }) => name === timer.before).map(({ at }) => at))
    if (between < timer.milliseconds) faults.push(`the timers took ${String(between)} ms, expected ${String(timer.milliseconds)} at least`)
  }
  return faults
}
