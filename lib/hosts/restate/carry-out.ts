import type { Action } from './messages.ts'
import { jsonOf, type Context } from './sdk.ts'
import type { Target } from './engine.ts'
import type { WorkerParts } from './worker-parts.ts'

/** Sends a message from within a handler: exactly once, whatever happens to this process. */
export function sendTo(ctx: Context, { sdk }: Pick<WorkerParts, 'sdk'>, { service, key, handler }: Target, parameter: unknown, delay = 0): void {
  ctx.genericSend({ service, method: handler, parameter, inputSerde: jsonOf(sdk), ...(key === undefined ? {} : { key }), ...(delay > 0 ? { delay } : {}) })
}

/** Calls a handler from within another. */
export function callTo<Reply>(ctx: Context, { sdk }: Pick<WorkerParts, 'sdk'>, { service, key, handler }: Target, parameter: unknown): Promise<Reply> {
  return ctx.genericCall<unknown, Reply>({
    service, method: handler, parameter, inputSerde: jsonOf(sdk), outputSerde: jsonOf<Reply>(sdk), ...(key === undefined ? {} : { key }),
  })
}

interface TurnActions {
  /** The instance. */
  readonly id: string
  /** Instant of the turn. */
  readonly at: number
  readonly actions: readonly Action[]
}

/** Carries out what a turn of an instance asks for. */
export async function carryOut(ctx: Context, parts: WorkerParts, { id, at, actions }: TurnActions): Promise<void> {
  // Whoever is told that it waits may send the event at once: it has to be found then.
  try {
    const subscriptions = actions.filter((action) => action.kind === 'subscribe').filter(({ waits }) => waits.length > 0)
    await Promise.all(subscriptions.map(({ type, rev, waits }) =>
      callTo<null>(ctx, parts, { service: parts.names.waits, key: type, handler: 'set' }, { instanceId: id, rev, waits })))
  } catch (error) {
    // It is being aborted, and what it waits for does not matter any more.
    if (!(error instanceof parts.sdk.CancelledError)) throw error
  }
  for (const action of actions) carryOutOne(ctx, parts, { id, at }, action)
}

function carryOutOne(ctx: Context, parts: WorkerParts, { id, at }: { readonly id: string; readonly at: number }, action: Action): void {
  const { names, keep, options: { clock, log }, sdk } = parts
  const instance = (key: string, handler: string): Target => ({ service: names.instance, key, handler })
  switch (action.kind) {
    case 'call': sendTo(ctx, parts, instance(id, 'effect'), { token: action.token, attempt: action.attempt }); return
    case 'detached': sendTo(ctx, parts, { service: names.detached, handler: 'run' }, action.message); return
    case 'publish': sendTo(ctx, parts, { service: names.outbox, key: id, handler: 'send' }, action.event); return
    case 'start': sendTo(ctx, parts, instance(action.wanted.id, 'start'), { kind: 'start', at, wanted: action.wanted, atOnce: action.wanted.parent?.token === undefined }); return
    case 'stop': sendTo(ctx, parts, instance(action.instanceId, 'stop'), { kind: 'stop', at }); return
    case 'tellParent': {
      const { parentId, token, end } = action
      sendTo(ctx, parts, instance(parentId, 'child'), { kind: 'child', at, token, childId: id, ...(end === undefined ? {} : { end }) })
      return
    }
    case 'timer': {
      const { token, dueAt } = action
      const message = (): object => ({ kind: 'timer', at: Math.max(dueAt, clock.now()), token, dueAt })
      if (!keep.ownTimers) sendTo(ctx, parts, instance(id, 'timer'), { kind: 'timer', at: dueAt, token, dueAt }, dueAt - clock.now())
      else clock.at(dueAt, () => { parts.engine.send(instance(id, 'timer'), message()).catch((error: unknown) => { log.error({ instance: id, error }, 'timer could not be fired') }) })
      return
    }
    case 'subscribe':
      if (action.waits.length === 0) sendTo(ctx, parts, { service: names.waits, key: action.type, handler: 'set' }, { instanceId: id, rev: action.rev, waits: [] })
      return
    case 'history': sendTo(ctx, parts, { service: names.history, key: id, handler: 'add' }, action.steps); return
    case 'forgetHistory': sendTo(ctx, parts, { service: names.history, key: id, handler: 'forget' }, {}); return
    case 'answer': ctx.resolveAwakeable(action.waiter, action.record, jsonOf(sdk)); return
    case 'purge': sendTo(ctx, parts, instance(id, 'purge'), { kind: 'purge', at: action.at }, action.at - at)
  }
}
