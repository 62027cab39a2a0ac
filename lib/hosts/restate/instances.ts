import { DataInputError, InstanceError, SonatinaError } from '../../errors/index.ts'
import { toWorkflowError, versionOf, type InstanceFacts, type PersistedInstance } from '../../instance/index.ts'
import { validateInput } from '../births.ts'
import { instanceNotFound } from '../operators.ts'
import { carryOut, callTo, sendTo } from './carry-out.ts'
import { assertKnownForm, newLife, recordOfLife, type Head, type Life } from './life.ts'
import type { Message, Operation, Reply, StartMessage, Wanted } from './messages.ts'
import { refusalOf } from './operate.ts'
import { perform } from './outcome.ts'
import { lifeOf, restOf } from './rest.ts'
import { jsonOf, type Bound, type ObjectContext, type ObjectSharedContext } from './sdk.ts'
import type { TurnSurroundings } from './surroundings.ts'
import { Turn } from './turn.ts'
import type { WorkerParts } from './worker-parts.ts'

/** Milliseconds: a call may take as long as it does; functions have timeouts of their own. */
const A_DAY = 86_400_000

/** Bytes of what a turn came with, stores and answers together: the engine takes 32 MiB by itself, measured. */
const LARGEST_TURN = 32 * 1024 * 1024 - 65_536

/** An instance has more data than the engine takes; it would try the turn again for ever. */
function tooLarge(bytes: number, hasStored: boolean): InstanceError {
  const size = String(Math.ceil(bytes / 1024 / 1024))
  const message = `The data of the instance is too large: with what came and goes it makes ${size} MiB, and the engine takes 32; keep large documents elsewhere, and their address in the data`
  return new InstanceError({ code: 'INSTANCE_FAILED', message, details: { hasStored } })
}

function isTooLarge(error: unknown): error is InstanceError {
  return error instanceof InstanceError && 'hasStored' in error.details
}

type Settled = NonNullable<StartMessage['settled']>

/** The object that every instance is one of: its state is the life, its handlers take the messages one after another. */
export function createInstanceObject(parts: WorkerParts): Bound {
  const { sdk, names } = parts
  const { shared } = sdk.handlers.object
  const handlers = new InstanceHandlers(parts)
  const take = (ctx: ObjectContext, message: Message): Promise<Reply> => handlers.take(ctx, message)
  return sdk.object({
    name: names.instance,
    handlers: {
      start: take, event: take, settle: take, timer: take, child: take, operate: take, stop: take, listen: take, purge: take,
      get: shared((ctx: ObjectSharedContext) => handlers.get(ctx)),
      answer: shared({ inactivityTimeout: A_DAY }, (ctx: ObjectSharedContext, { at }: { at: number }) => handlers.answer(ctx, at)),
      abort: shared((ctx: ObjectSharedContext, asked: { at: number; workflowId: string }) => handlers.abort(ctx, asked)),
      effect: shared((ctx: ObjectSharedContext, call: { token: string; attempt: number }) => handlers.effect(ctx, call)),
    },
    options: { inactivityTimeout: A_DAY, abortTimeout: A_DAY },
  })
}

class InstanceHandlers {
  readonly #parts: WorkerParts

  constructor(parts: WorkerParts) {
    this.#parts = parts
  }

  // --- one message after another ---

  async take(ctx: ObjectContext, message: Message): Promise<Reply> {
    try {
      return await this.#take(ctx, message)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      this.#parts.options.log.error({ instance: ctx.key, message: message.kind }, error.message)
      // Whoever asks from outside is told; anything else has happened and is tried again, until the engine takes more.
      if (message.kind === 'operate' && error.details['hasStored'] !== true) return { quiet: true, refusal: refusalOf(error) }
      if (message.kind !== 'start' || message.settled === undefined) throw error
      ctx.clearAll()
      return { quiet: true, taken: false, refusal: refusalOf(error) }
    }
  }

  async #take(ctx: ObjectContext, message: Message): Promise<Reply> {
    // A fresh id that was made for this start is nobody else's: there is nothing to look for.
    if (message.kind === 'start' && message.settled !== undefined && message.startedBy === undefined) return this.#start(ctx, message)
    const life = await ctx.get<Life>('life') ?? undefined
    if (life !== undefined) assertKnownForm(life)
    if (message.kind === 'start') return life === undefined ? this.#start(ctx, message) : existing(life, message)
    if (life?.state === undefined) return this.#takeEnded(ctx, life, message)
    return this.#move(ctx, life, life.state, message)
  }

  #takeEnded(ctx: ObjectContext, life: Life | undefined, message: Exclude<Message, StartMessage>): Reply {
    const record = life === undefined ? undefined : recordOfLife(life)
    if (message.kind === 'purge') ctx.clearAll()
    if (message.kind === 'listen') ctx.resolveAwakeable(message.waiter, record ?? null, jsonOf(this.#parts.sdk))
    if (message.kind !== 'operate') return { quiet: true, taken: false }
    if (life?.interrupted === true && message.operation.name === 'abort' && record !== undefined) {
      const { interrupted: _, ...rest } = life
      ctx.set('life', rest)
      return { record, quiet: true }
    }
    return { quiet: true, refusal: refusalOf(instanceNotFound(message.workflowId, ctx.key)) }
  }

  async #start(ctx: ObjectContext, message: StartMessage): Promise<Reply> {
    const settled = message.settled ?? await this.#settle(ctx, message)
    if (settled === undefined) return { quiet: true, taken: false }
    const { facts, definition } = settled
    const { keep, headers } = this.#parts
    headers.put(facts.id, facts.headers)
    const stored = keep.storedHeaders(facts.headers)
    const life = { ...newLife({ ...facts, headers: stored }, definition), ...(message.startedBy === undefined ? {} : { startedBy: message.startedBy }) }
    const surroundings = await this.#surroundings(ctx, life)
    const turn = new Turn(life, message.at, surroundings)
    try {
      turn.begin(message)
    } catch (error) {
      headers.delete(facts.id)
      return { quiet: true, refusal: refusalOf(error) }
    }
    return { ...await this.#finish(ctx, turn, message, surroundings), taken: true }
  }

  /** Settles what is started by another instance: the definition in service now, whatever is so when the turn is taken again. */
  async #settle(ctx: ObjectContext, { wanted, at }: StartMessage): Promise<Settled | undefined> {
    if (wanted === undefined) return undefined
    const { workflows, options: { log } } = this.#parts
    const settled = await ctx.run('settle', async (): Promise<Settled | { error: ReturnType<typeof toWorkflowError> }> => {
      try {
        const workflow = workflows.inService(wanted.workflowId, wanted.version)
        validateInput(workflow, wanted.input)
        await workflows.hold(workflow)
        return { facts: factsOf(wanted, versionOf(workflow.program, wanted.input), at), definition: workflow.loaded.source.hash }
      } catch (error) {
        // What is wrong with the definition or the input is the error of the action; what is wrong with the engine is tried again.
        if (error instanceof DataInputError || (SonatinaError.is(error) && error.code === 'DEFINITION_NOT_FOUND')) return { error: toWorkflowError(error) }
        throw error
      }
    })
    if ('facts' in settled) return settled
    const { parent, id, workflowId } = wanted
    if (parent?.token === undefined) {
      log.error({ instance: id, workflow: workflowId, error: settled.error }, 'workflow could not be started')
      return undefined
    }
    const { names } = this.#parts
    const end = { id, status: 'error', data: null, failure: settled.error }
    sendTo(ctx, this.#parts, { service: names.instance, key: parent.instanceId, handler: 'child' }, { kind: 'child', at, token: parent.token, childId: id, end })
    return undefined
  }

  async #move(ctx: ObjectContext, life: Life, state: PersistedInstance, message: Exclude<Message, StartMessage>): Promise<Reply> {
    if (message.kind === 'purge') return { quiet: true }
    const surroundings = await this.#surroundings(ctx, life)
    const turn = new Turn(life, message.at, surroundings)
    turn.resume(state)
    let taken = true
    try {
      // Who interrupted it has aborted it by that.
      const isDone = message.kind === 'listen' || (life.interrupted === true && message.kind === 'operate' && message.operation.name === 'abort')
      if (!isDone) taken = await turn.move(message)
    } catch (error) {
      return { quiet: true, refusal: refusalOf(error) }
    }
    return { ...await this.#finish(ctx, turn, message, surroundings), taken }
  }

  async #surroundings(ctx: ObjectContext | ObjectSharedContext, { facts, definition }: Pick<Life, 'facts' | 'definition'>): Promise<TurnSurroundings> {
    const { options, keep, workflows, headers } = this.#parts
    const { inspect, subflows, log, secrets, maxSteps = 100_000, kogitoAttributes = false, retention = 0 } = options
    return {
      workflow: await workflows.ofHash(definition),
      headers: headers.get(facts),
      log,
      secrets,
      maxSteps,
      kogitoAttributes,
      random: () => ctx.rand.random(),
      retention,
      inboxRetention: keep.inboxRetention,
      history: keep.history,
      ...(inspect === undefined ? {} : { inspect }),
      ...(subflows === undefined ? {} : { subflows }),
    }
  }

  // --- calls ---

  async #finish(ctx: ObjectContext, turn: Turn, message: Message, surroundings: TurnSurroundings): Promise<Reply> {
    const invocation = ctx.request().id
    const hasStored = message.kind === 'start' && message.atOnce === true ? false : await this.#callInline(ctx, turn, message)
    const { life, head, actions, reply } = restOf(turn, message, surroundings)
    const { id } = turn.live.facts
    if (life === undefined || head === undefined) {
      if (hasStored || message.kind !== 'start') ctx.clearAll()
    } else {
      this.#store(ctx, life, { hasStored, also: [message, reply] })
      ctx.set('head', head)
    }
    for (const token of turn.draft.givenUp) this.#parts.calls.giveUp(id, token)
    if (turn.live.endedAt !== undefined) this.#parts.headers.delete(id)
    await carryOut(ctx, this.#parts, { id, at: turn.now, actions })
    this.#tell(invocation, turn, reply)
    this.#parts.observer.forget(invocation)
    return reply
  }

  /**
   * Puts a life away; `also` is what the same turn came with and answers.
   *
   * @throws {@link InstanceError} `INSTANCE_FAILED` when the engine would not take it
   */
  #store(ctx: ObjectContext, life: Life, { hasStored, also }: { readonly hasStored: boolean; readonly also: readonly (Message | Reply)[] }): void {
    const { sdk } = this.#parts
    const json = jsonOf<Life | Message | Reply>(sdk)
    const bytes = json.serialize(life)
    // Nearly all are small, and then the others are too: they need not be measured.
    const size = bytes.length < LARGEST_TURN / 8 ? 0 : also.reduce((sum, each) => sum + json.serialize(each).length, bytes.length)
    if (size > LARGEST_TURN) throw tooLarge(size, hasStored)
    ctx.set('life', bytes, sdk.serde.binary)
  }

  /** Carries calls out within the turn, as long as the instance waits for nothing else: a chain of them costs one invocation. Gives whether its life was stored. */
  async #callInline(ctx: ObjectContext, turn: Turn, message: Message): Promise<boolean> {
    const { calls, options: { clock }, sdk } = this.#parts
    const { id } = turn.live.facts
    let isStored = false
    for (let call = turn.inlineCall(); call !== undefined; call = turn.inlineCall()) {
      const { token, name, command } = call
      const attempt = turn.handOut(token)
      this.#tell(ctx.request().id, turn)
      if (!isStored) {
        this.#store(ctx, lifeOf(turn, { running: ctx.request().id }), { hasStored: false, also: [message] })
        isStored = true
      }
      try {
        const { outcome, at } = await ctx.run(name, () => calls.run(id, token, async (signal) => ({ outcome: await perform(command, signal), at: clock.now() })))
        turn.settle(token, attempt, outcome, at)
      } catch (error) {
        if (!(error instanceof sdk.CancelledError)) throw error
        calls.giveUp(id, token)
        turn.interrupt()
      }
    }
    return isStored
  }

  /** Carries a call out beside the turns of its instance. */
  async effect(ctx: ObjectSharedContext, { token, attempt }: { token: string; attempt: number }): Promise<void> {
    const life = await ctx.get<Life>('life')
    if (life?.state === undefined || life.calls[token] !== attempt) return
    const { calls, options: { clock }, names } = this.#parts
    const turn = new Turn(life, life.facts.startedAt, await this.#surroundings(ctx, life))
    turn.resume(life.state)
    const command = turn.commandOf(token)
    if (command === undefined) return
    const name = turn.live.instance.nodeIdOf(token)
    const { outcome, at } = await ctx.run(name, () => calls.run(ctx.key, token, async (signal) => ({ outcome: await perform(command, signal), at: clock.now() })))
    sendTo(ctx, this.#parts, { service: names.instance, key: ctx.key, handler: 'settle' }, { kind: 'settle', at, token, attempt, outcome })
  }

  // --- beside the messages ---

  async get(ctx: ObjectSharedContext): Promise<{ record: ReturnType<typeof recordOfLife>; head: Head | null } | null> {
    const life = await ctx.get<Life>('life')
    return life === null ? null : { record: recordOfLife(life), head: await ctx.get<Head>('head') }
  }

  /** Gives the record once nothing is under way any more. */
  async answer(ctx: ObjectSharedContext, at: number): Promise<ReturnType<typeof recordOfLife> | null> {
    const { id, promise } = ctx.awakeable<ReturnType<typeof recordOfLife> | null>()
    sendTo(ctx, this.#parts, { service: this.#parts.names.instance, key: ctx.key, handler: 'listen' }, { kind: 'listen', at, waiter: id })
    return await promise
  }

  /** Aborts an instance; a call that it carries out is not waited for. */
  async abort(ctx: ObjectSharedContext, { at, workflowId }: { at: number; workflowId: string }): Promise<Reply> {
    const life = await ctx.get<Life>('life')
    const { sdk, names } = this.#parts
    if (life?.running !== undefined && life.facts.workflowId === workflowId) ctx.invocation(sdk.InvocationIdParser.fromString(life.running)).cancel()
    const operation: Operation = { name: 'abort' }
    return await callTo<Reply>(ctx, this.#parts, { service: names.instance, key: ctx.key, handler: 'operate' }, { kind: 'operate', at, workflowId, operation })
  }

  #tell(invocation: string, turn: Turn, reply?: Reply): void {
    const { observer, options: { onStep, onRest, log } } = this.#parts
    const { facts } = turn.live
    const untold = observer.untold(invocation, turn.steps.length)
    if (onStep !== undefined && untold > 0) for (const step of turn.steps.slice(-untold)) onStep(step, facts)
    if (reply?.record === undefined || !reply.quiet) return
    const { status, failure } = reply.record
    if (status === 'error') log.error({ instance: facts.id, workflow: facts.workflowId, failure }, 'instance failed')
    onRest?.(reply.record, facts)
  }
}

/** The answer to a start of an instance that exists: the instance when it was started by the same, else a conflict. */
function existing(life: Life, { startedBy }: StartMessage): Reply {
  if (startedBy !== undefined && startedBy === life.startedBy) {
    const record = recordOfLife(life)
    return { record, quiet: life.state === undefined || record.status !== 'active', taken: false }
  }
  const message = `Instance ${life.facts.id} of "${life.facts.workflowId}" exists, and was started by something else`
  return { quiet: true, taken: false, refusal: refusalOf(new InstanceError({ code: 'INSTANCE_CONFLICT', message })) }
}

function factsOf({ id, workflowId, input, headers, parent, variables, timeout }: Wanted, version: string, startedAt: number): InstanceFacts {
  return {
    id, workflowId, version, input, startedAt, headers,
    ...(parent === undefined ? {} : { parent }),
    ...(variables === undefined ? {} : { variables }),
    ...(timeout === undefined ? {} : { timeout }),
  }
}
