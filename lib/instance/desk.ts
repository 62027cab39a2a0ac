import type { AnyActorRef } from 'xstate'
import type { Json, JsonObject } from '../common/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { MaybePromise } from '../expressions/index.ts'
import { callAtOnce } from './call-at-once.ts'
import type { Command, DetachedOrigin, EventWait, Outcome, Prepared, Result } from './commands.ts'
import type { PathContext } from './context.ts'
import type { EffectInput } from './effect.ts'
import type { PersistedInstance } from './environment.ts'
import { InstanceScope, type InstanceParts } from './instance-scope.ts'
import type { InstanceDesk } from './machine-steps.ts'
import { awaitedEvents, declaredEvents } from './event-waits.ts'
import { mergeable } from './mergeable.ts'
import { nodeIdOf } from './node-id.ts'
import { prepareAction, settled, siteOf, type ActionSite } from './perform.ts'
import { actionAt } from './program.ts'
import { receiveEvent } from './receive.ts'
import { evaluateSteps, type NamedStep } from './steps/evaluate-steps.ts'
import { addressOf, chain, type StepParams } from './steps/step.ts'
import { timeoutError, toWorkflowError, type TimeoutKind } from './workflow-error.ts'

interface PendingEffect {
  readonly ref: AnyActorRef
  readonly input: EffectInput
  /** What it was prepared with: carried out again, it must ask for the same. */
  context: PathContext | undefined
}

function isDetached(command: Command): boolean {
  return (command.kind === 'call' || command.kind === 'subflow') && command.detached
}

/** The machine of the instance, as its effects see it. */
export interface RootView {
  /** The context of the workflow now. */
  readonly context: PathContext
  isRoot(machine: AnyActorRef): boolean
  /** Told when an effect is given up. */
  withdraw(token: string): void
}

/** The part of the stored form that effects are. */
type PersistedEffects = Pick<PersistedInstance, 'sequence' | 'ending' | 'dueAt' | 'contexts'>

/**
 * The effects of one instance: what its machines ask for, is carried out at once where nothing from outside is needed, or becomes a
 * command to the host and is pending until it answers.
 */
export class Desk extends InstanceScope implements InstanceDesk {
  readonly #root: RootView
  readonly #effects = new Map<string, PendingEffect>()
  /** Event types that actions wait for in place of a call, by token. */
  #awaited: Map<string, string> | undefined
  /** Calls that are under way and awaited. */
  readonly #calls = new Set<string>()
  /** What an effect was prepared with that takes time, until it is posted. */
  #attempted: { readonly token: string; readonly context: PathContext; readonly prepared: MaybePromise<Prepared> } | undefined
  #queue: string[] = []
  /** The effect whose expressions are evaluated asynchronously: until then no other reads the data, for it may change them. */
  #evaluating: string | undefined
  #commands: Command[] = []
  /** The workflow's time is up, but running calls may end (A15). */
  #ending: string | undefined
  /** The stored form while the instance is brought back from it. */
  #restored: PersistedEffects | undefined
  #moved: Map<string, number> | undefined

  constructor(parts: InstanceParts, root: RootView) {
    super(parts)
    this.#root = root
  }

  /** Effects that are posted while `run` runs are those of a stored form: they have begun before. */
  restoring(persisted: PersistedEffects, run: () => void): void {
    this.sequence = persisted.sequence
    this.#restored = persisted
    run()
    this.#restored = undefined
  }

  /** Machines have started: what they have posted is carried out. */
  started(): void {
    const { ending } = this.#restored ?? {}
    if (ending !== undefined) {
      this.#queue = this.#queue.filter((token) => ending.calls.includes(token))
      this.#drain()
      this.#ending = ending.token
    }
    this.advance()
  }

  persist(): PersistedEffects {
    const contexts: Record<string, PathContext> = {}
    let changed = false
    for (const [token, effect] of this.#effects) {
      if (effect.context === undefined || effect.context.data === this.#contextOf(effect).data) continue
      contexts[token] = effect.context
      changed = true
    }
    return {
      sequence: this.sequence,
      ...(this.#ending === undefined ? {} : { ending: { token: this.#ending, calls: [...this.#calls] } }),
      ...(this.#moved === undefined || this.#moved.size === 0 ? {} : { dueAt: Object.fromEntries(this.#moved) }),
      ...(changed ? { contexts } : {}),
    }
  }

  /** No call is under way and nothing is left to do at once. */
  get isQuiet(): boolean {
    return this.#calls.size === 0 && this.#queue.length === 0
  }

  /** The pending effects, by token. */
  get pending(): ReadonlyMap<string, { readonly input: EffectInput }> {
    return this.#effects
  }

  /** Waits for events that are open now. */
  get waits(): EventWait[] {
    return [...this.#effects.values()].flatMap(({ input }) => {
      const events = input.effect === 'event' ? declaredEvents(this.program, input) : awaitedEvents(this.#awaited?.get(input.token))
      return events.length === 0 ? [] : [{ token: input.token, events }]
    })
  }

  /** Name of the node that a pending effect belongs to. */
  nodeIdOf(token: string): string {
    const effect = this.#effects.get(token)
    return effect === undefined ? '' : nodeIdOf(this.program, effect.input)
  }

  /** What is to be done outside; each command is given once, and none that was given up before it was taken. */
  takeCommands(): readonly Command[] {
    const commands = this.#commands
    if (commands.length === 0) return commands
    this.#commands = []
    return commands.filter((command) => command.kind === 'publish' || isDetached(command) || this.#effects.has(command.token))
  }

  /** Takes the answer to a command. Gives false when nobody waits for it any more. */
  settle(token: string, outcome: Outcome): boolean {
    this.#release(token)
    const effect = this.#effects.get(token)
    if (effect !== undefined) {
      if ('prepared' in outcome) this.#take(effect, outcome.prepared)
      else this.#answer(effect, outcome)
    }
    this.advance()
    return effect !== undefined
  }

  /** A timer is due. Gives false when it was given up. */
  fire(token: string): boolean {
    const effect = this.#effects.get(token)
    if (effect === undefined) return false
    const { timeout, milliseconds } = effect.input
    if (timeout === 'workflow' && this.program.definition.timeouts.workflowExecTimeout?.interrupt === false) {
      this.#ending = token
    } else {
      this.reporter.effect('timerFired', effect.input)
      const failure = timeout === undefined ? {} : { failure: timeoutError(timeout as TimeoutKind, Number(milliseconds)) }
      this.#answer(effect, { output: failure })
    }
    this.advance()
    return true
  }

  /** An event came for a wait. Gives false when it is no longer open. */
  receive(token: string, entry: number, event: CloudEventRecord, correlation: Readonly<Record<string, string>>): boolean {
    const effect = this.#effects.get(token)
    if (effect === undefined) return false
    this.reporter.effect('eventConsumed', effect.input, { type: event.type, id: event.id })
    const context = this.#contextOf(effect)
    const outcome = settled(() => chain(receiveEvent({ program: this.program, scope: this, context, input: effect.input, entry, event, correlation }), (output) => ({ output })))
    this.#take(effect, chain(outcome, (done): Prepared => ('prepared' in done ? done.prepared : { kind: 'outcome', outcome: done })))
    this.advance()
    return true
  }

  /** Carries out a pending effect again. */
  repeat(token: string): void {
    const effect = this.#effects.get(token)
    if (effect === undefined) return
    this.#root.withdraw(token)
    this.#release(token)
    this.post(effect.ref, effect.input)
    this.advance()
  }

  /** Moves the due instant of a pending timer. */
  reschedule(token: string, dueAt: number): void {
    const effect = this.#effects.get(token)
    if (effect?.input.effect !== 'timer') return
    this.#root.withdraw(token)
    this.#move(token, dueAt)
    this.post(effect.ref, effect.input)
  }

  #move(token: string, dueAt: number): void {
    (this.#moved ??= new Map()).set(token, dueAt)
  }

  /** Prepares an asynchronous action once more, from what its command carried: its host was stopped before it was done. */
  revive({ input, context }: DetachedOrigin): MaybePromise<Prepared> {
    const site = { ...siteOf(this.program, input), isGated: true }
    return prepareAction({ scope: this, facts: this.facts, logs: this, site, context, token: input.token })
  }

  get isObserved(): boolean {
    return this.environment.inspect !== undefined
  }

  admit(input: JsonObject, token = this.nextToken()): EffectInput {
    const now = this.environment.clock.now()
    const milliseconds = this.#milliseconds(input)
    // What is copied stands last: literals that go on after a copy take V8 ten times as long.
    return (milliseconds === undefined ? { token, since: now, ...input } : { token, since: now, dueAt: now + milliseconds, ...input }) as EffectInput
  }

  nextToken(): string {
    this.sequence += 1
    return String(this.sequence)
  }

  get isIdle(): boolean {
    return this.#queue.length === 0 && this.#evaluating === undefined && this.#ending === undefined && this.#restored === undefined
  }

  attempt(site: ActionSite, token: string, context: PathContext): Result | undefined {
    let result: Result | undefined
    try {
      this.count()
      const prepared = this.#callNow(this.#prepareAction(site, token, context))
      result = prepared instanceof Promise ? undefined : this.#resultOf(site.input, token, context, prepared)
      if (result === undefined) this.#attempted = { token, context, prepared }
    } catch (error) {
      result = { error: toWorkflowError(error) }
    }
    return result === undefined ? undefined : this.#conclude(site.input, result, context.data)
  }

  /** Makes the call that an action asks for, where it may be made amid a turn and nothing that came before it is still to be done. */
  #callNow(prepared: MaybePromise<Prepared>): MaybePromise<Prepared> {
    if (prepared instanceof Promise || this.#commands.length > 0) return prepared
    return callAtOnce(prepared, this.environment.callsAtOnce)
  }

  #milliseconds(input: JsonObject): number | undefined {
    if (input['timeout'] === 'workflow' && this.facts.timeout !== undefined) return this.facts.timeout
    return typeof input['milliseconds'] === 'number' ? input['milliseconds'] : undefined
  }

  post(ref: AnyActorRef, posted: EffectInput): void {
    const { token } = posted
    const moved = this.#moved?.get(token) ?? this.#restored?.dueAt?.[token]
    const input = moved === undefined ? posted : { ...posted, dueAt: moved }
    if (moved !== undefined) this.#move(token, moved)
    const attempted = this.#attempted
    if (attempted?.token === token) {
      this.#attempted = undefined
      const effect = { ref, input, context: attempted.context }
      this.#effects.set(token, effect)
      if (attempted.prepared instanceof Promise) this.#evaluating = token
      this.#take(effect, attempted.prepared)
      return
    }
    this.#effects.set(token, { ref, input, context: this.#restored?.contexts?.[token] })
    if (input.effect === 'timer') this.#commands.push({ kind: 'timer', token, dueAt: input.dueAt ?? 0 })
    else if (input.effect !== 'event') this.#queue.push(input.token)
  }

  withdraw(token: string): void {
    this.#effects.delete(token)
    this.#awaited?.delete(token)
    this.#release(token)
    this.#moved?.delete(token)
    this.#root.withdraw(token)
  }

  #release(token: string): void {
    this.#calls.delete(token)
    if (this.#evaluating === token) this.#evaluating = undefined
  }

  publish(context: PathContext): void {
    // Where one could not be made none is sent: the step is taken again.
    if (context.failure !== undefined) return
    for (const event of context.outbox ?? []) this.#emit(event)
  }

  #emit(event: CloudEventRecord): void {
    this.reporter.step({ type: 'eventProduced', detail: { type: event.type, id: event.id } })
    this.#commands.push({ kind: 'publish', event })
  }

  /** Carries out what needs nothing from outside, one effect after another, until the machine rests. */
  advance(): void {
    if (this.#ending === undefined) this.#drain()
    while (this.#ending !== undefined && this.#calls.size === 0) {
      this.#endNow(this.#ending)
      this.#drain()
    }
    if (this.isQuiet) this.restart()
  }

  #drain(): void {
    while (this.#evaluating === undefined) {
      const token = this.#queue.shift()
      if (token === undefined) return
      const effect = this.#effects.get(token)
      if (effect !== undefined) this.#perform(effect)
    }
  }

  #endNow(token: string): void {
    this.#ending = undefined
    const effect = this.#effects.get(token)
    if (effect !== undefined) this.#answer(effect, { output: {} })
  }

  #perform(effect: PendingEffect): void {
    try {
      this.count()
      const context = effect.context ?? this.#contextOf(effect)
      effect.context = context
      const prepared = this.#prepare(effect.input, context)
      if (prepared instanceof Promise) this.#evaluating = effect.input.token
      this.#take(effect, prepared)
    } catch (error) {
      this.#answer(effect, { error: toWorkflowError(error) })
    }
  }

  #prepare(input: EffectInput, context: PathContext): MaybePromise<Prepared> {
    if (input.effect === 'evaluate') {
      const steps = input['steps'] as unknown as readonly NamedStep[]
      return evaluateSteps(steps, context, this).then((output): Prepared => ({ kind: 'outcome', outcome: { output } }))
    }
    return this.#prepareAction(siteOf(this.program, input), input.token, context)
  }

  #prepareAction(site: ActionSite, token: string, context: PathContext): MaybePromise<Prepared> {
    // What is carried out again was told when it began.
    if (this.#restored === undefined && !site.isCondition) this.reporter.actionStarted(site.compiled.place)
    return prepareAction({ scope: this, facts: this.facts, logs: this, site, context, token })
  }

  // A branch that shares the workflow data reads it when its turn comes, not when it was spawned.
  #contextOf({ ref }: PendingEffect): PathContext {
    const machine = ref._parent
    if (machine === undefined || this.#root.isRoot(machine)) return this.#root.context
    const { context: own } = machine.getSnapshot() as { readonly context: PathContext }
    return own.own === true ? own : { ...this.#root.context, ...own, data: this.#root.context.data }
  }

  #dataOf({ ref }: PendingEffect): Json {
    const machine = ref._parent
    if (machine === undefined || this.#root.isRoot(machine)) return this.#root.context.data
    const { context: own } = machine.getSnapshot() as { readonly context: PathContext }
    return own.own === true ? own.data : this.#root.context.data
  }

  #take(effect: PendingEffect, prepared: MaybePromise<Prepared>): void {
    const { input } = effect
    const { token } = input
    if (prepared instanceof Promise) {
      this.#calls.add(token)
      this.#commands.push({ kind: 'call', token, detached: false, run: () => settled(() => prepared.then((value) => ({ prepared: value }))) })
      return
    }
    const result = this.#resultOf(input, token, effect.context ?? this.#root.context, prepared)
    if (result !== undefined) {
      this.#answer(effect, result)
    } else if (prepared.kind === 'await') {
      (this.#awaited ??= new Map()).set(token, prepared.type)
    } else if (prepared.kind === 'command') {
      this.#commands.push(prepared.command)
      if (prepared.command.kind === 'call') this.#calls.add(token)
    }
  }

  /** What comes of an action at once; `undefined` where it has to be waited for. */
  #resultOf(input: JsonObject, token: string, context: PathContext, prepared: Prepared): Result | undefined {
    switch (prepared.kind) {
      case 'outcome': return prepared.outcome
      case 'await': return undefined
      case 'publish':
        this.#emit(prepared.event)
        return { output: {} }
      case 'command':
        if (!prepared.command.detached) return undefined
        this.#commands.push({ ...prepared.command, origin: { input: { ...input, token } as EffectInput, context } })
        return { output: {} }
    }
  }

  #answer(effect: PendingEffect, given: Result): void {
    const { input, ref } = effect
    this.#effects.delete(input.token)
    this.#awaited?.delete(input.token)
    this.#moved?.delete(input.token)
    const outcome = this.#conclude(input, given, this.#dataOf(effect))
    ref.send('error' in outcome
      ? { type: 'swf.effect.failed', error: outcome.error }
      : { type: 'swf.effect.completed', output: outcome.output })
  }

  /** Looks whether a result has a place in the data, and tells how an action ended. */
  #conclude(input: StepParams, given: Result, data: Json): Result {
    const outcome = mergeable(this.program, input, given, data)
    if (input['effect'] === 'action') this.reporter.actionEnded(actionAt(this.program, addressOf(input)).place, outcome)
    return outcome
  }
}
