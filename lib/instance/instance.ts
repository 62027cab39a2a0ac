import { createActor, type AnyActorRef, type InspectionEvent, type Snapshot } from 'xstate'
import type { Clock, IdSource, Json, JsonObject, Logger } from '../common/index.ts'
import { InstanceError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { Bindings, MaybePromise } from '../expressions/index.ts'
import { FAILED_TAG, MACHINE_EVENTS } from '../translation/index.ts'
import type { Command, DetachedOrigin, EventWait, Outcome, Prepared, Result } from './commands.ts'
import type { Continuation, PathContext, RecordedFailure, RetryProgress, WorkflowOutput } from './context.ts'
import { registerDesk, type EffectInput } from './effect.ts'
import type { InstanceFacts } from './facts.ts'
import { InstanceBindings, type SecretReader } from './instance-bindings.ts'
import { EarlyScope } from './loop/early-scope.ts'
import type { BoundMachines, RootInput, WorkflowMachine } from './machine.ts'
import type { InstanceDesk } from './machine-steps.ts'
import { nodeIdOf } from './node-id.ts'
import { prepareAction, settled, siteOf, type ActionSite } from './perform.ts'
import { actionAt, type Program } from './program.ts'
import { mergeable } from './mergeable.ts'
import { receiveEvent } from './receive.ts'
import { Reporter, type ReportedStep } from './reporter.ts'
import { stampEvent } from './stamp.ts'
import { evaluateSteps, type NamedStep } from './steps/evaluate-steps.ts'
import { addressOf, chain, type StepParams } from './steps/step.ts'
import { timeoutError, toWorkflowError, type TimeoutKind } from './workflow-error.ts'

/** What instances of one definition share. */
export interface Deployment {
  readonly program: Program
  readonly machines: BoundMachines
}

/** Surroundings of an instance. */
export interface InstanceEnvironment {
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  readonly secrets: SecretReader
  /** Produced events carry the attributes in the spelling of Kogito too. */
  readonly kogitoAttributes: boolean
  /** Most states and actions in a row without waiting. */
  readonly maxSteps: number
  /** Told when an effect is given up, so that a call can be aborted and a timer ended. */
  readonly withdraw: (instance: Instance, token: string) => void
  /** Receives XState's inspection events; the stock loop runs then. */
  readonly inspect?: (instance: Instance, event: InspectionEvent) => void
  /** Receives steps where a history is kept or somebody looks on; `sequence` and `at` are the host's to give. */
  readonly report?: (instance: Instance, step: ReportedStep) => void
}

/** An instance at rest, as JSON. */
export interface PersistedInstance {
  readonly snapshot: Snapshot<unknown>
  /** Tokens and event ids given out so far. */
  readonly sequence: number
  /** The workflow's time is up, and these calls may still end (A15). */
  readonly ending?: { readonly token: string; readonly calls: readonly string[] }
  /** Due instants of timers that were moved, by token. */
  readonly dueAt?: Readonly<Record<string, number>>
  /** What effects under way were prepared with, by token, where the data has changed since. */
  readonly contexts?: Readonly<Record<string, PathContext>>
}

/** How an instance begins. */
export interface Beginning {
  /** Index of the state to begin with; the definition's start when absent. */
  readonly startFrom?: number
  readonly correlation?: Readonly<Record<string, string>>
}

interface PendingEffect {
  readonly ref: AnyActorRef
  readonly input: EffectInput
  /** What it was prepared with: carried out again, it must ask for the same. */
  context: PathContext | undefined
}

type Root = ReturnType<typeof createActor<WorkflowMachine>>
type RootSnapshot = ReturnType<Root['getSnapshot']>

function isDetached(command: Command): boolean {
  return (command.kind === 'call' || command.kind === 'subflow') && command.detached
}

/**
 * One run of a workflow: a live XState actor, from the moment it first waits, and what it waits for.
 *
 * Does no I/O. Every call that moves it on ends with the machine at rest; what is then to be done outside is taken with
 * {@link Instance.takeCommands} and answered with {@link Instance.settle} or {@link Instance.fire}. Answers with a token that is
 * no longer pending are ignored.
 */
export class Instance implements InstanceDesk {
  readonly facts: InstanceFacts
  readonly program: Program
  readonly #environment: InstanceEnvironment
  readonly #machines: BoundMachines
  readonly #bindings: InstanceBindings
  readonly #reporter: Reporter
  readonly #effects = new Map<string, PendingEffect>()
  /** Event types that actions wait for in place of a call, by token. */
  readonly #awaited = new Map<string, string>()
  /** Calls that are under way and awaited. */
  readonly #calls = new Set<string>()
  #actor: Root | undefined
  /** The last snapshot of an instance that came to its end without ever waiting: it needed no actor. */
  #passed: RootSnapshot | undefined
  /** What an effect was prepared with that takes time, until it is posted. */
  #attempted: { readonly token: string; readonly context: PathContext; readonly prepared: MaybePromise<Prepared> } | undefined
  #queue: string[] = []
  /** The effect whose expressions are evaluated asynchronously: until then no other reads the data, for it may change them. */
  #evaluating: string | undefined
  #commands: Command[] = []
  #sequence = 0
  #steps = 0
  /** The workflow's time is up, but running calls may end (A15). */
  #ending: string | undefined
  /** The stored form while the instance is brought back from it. */
  #restored: PersistedInstance | undefined
  readonly #moved = new Map<string, number>()

  constructor(facts: InstanceFacts, deployment: Deployment, environment: InstanceEnvironment) {
    this.facts = facts
    this.program = deployment.program
    this.#machines = deployment.machines
    this.#environment = environment
    const { report } = environment
    this.#reporter = new Reporter(deployment.program, report === undefined ? undefined : (step) => { report(this, step) })
    this.#bindings = new InstanceBindings(deployment.program, facts, environment.secrets)
  }

  /** Starts the actor and runs it until it rests. */
  begin({ startFrom, correlation }: Beginning = {}): void {
    this.#reporter.step({ type: 'started', data: this.facts.input })
    const { variables } = this.facts
    const context: PathContext = { data: this.facts.input, ...(variables === undefined ? {} : { variables }), ...(correlation === undefined ? {} : { correlation }) }
    const machine = startFrom === undefined ? this.#machines.root : this.#machines.startingAt(startFrom)
    const scope = new EarlyScope(() => this.#actorOf(machine, { desk: this, context, isLate: true }))
    const snapshot = machine.beginEarly(scope, this, context)
    if (snapshot === undefined) this.#run(this.#actorOf(machine, { desk: this, context }))
    else if (snapshot.status === 'active' || scope.actor !== undefined) this.#run(adopt(scope, snapshot))
    else this.#passed = snapshot
  }

  #actorOf(machine: WorkflowMachine, input: RootInput): Root {
    return createActor(machine, { id: this.facts.id, input, ...this.#inspection() })
  }

  /** Brings an instance back from its stored form; pending effects post their commands again. */
  resume(persisted: PersistedInstance): void {
    this.#sequence = persisted.sequence
    this.#restored = persisted
    this.#run(createActor(this.#machines.root, { id: this.facts.id, snapshot: persisted.snapshot, input: { desk: this }, ...this.#inspection() }))
    this.#restored = undefined
  }

  // The observer has to be there from the start: the first steps are taken while the actor is made.
  #inspection(): { inspect?: (event: InspectionEvent) => void } {
    const { inspect } = this.#environment
    return inspect === undefined ? {} : { inspect: (event) => { inspect(this, event) } }
  }

  #run(actor: Root): void {
    this.#actor = actor
    registerDesk(actor.system, this)
    // Without an observer XState reports errors of a root actor to the process.
    actor.subscribe({ error: () => undefined })
    actor.start()
    const { ending } = this.#restored ?? {}
    if (ending !== undefined) {
      this.#queue = this.#queue.filter((token) => ending.calls.includes(token))
      this.#drain()
      this.#ending = ending.token
    }
    this.#advance()
  }

  /** The stored form; call it only at rest. */
  persist(): PersistedInstance {
    const contexts: Record<string, PathContext> = {}
    let changed = false
    for (const [token, effect] of this.#effects) {
      if (effect.context === undefined || effect.context.data === this.#contextOf(effect).data) continue
      contexts[token] = effect.context
      changed = true
    }
    return {
      snapshot: this.#passed === undefined ? this.#live.getPersistedSnapshot() : this.#machines.root.getPersistedSnapshot(this.#passed as never),
      sequence: this.#sequence,
      ...(this.#ending === undefined ? {} : { ending: { token: this.#ending, calls: [...this.#calls] } }),
      ...(this.#moved.size === 0 ? {} : { dueAt: Object.fromEntries(this.#moved) }),
      ...(changed ? { contexts } : {}),
    }
  }

  get #snapshot(): RootSnapshot {
    return this.#passed ?? this.#live.getSnapshot()
  }

  get #live(): Root {
    if (this.#actor === undefined) {
      throw new InstanceError({ code: 'INSTANCE_NOT_FOUND', message: `Instance ${this.facts.id} has not begun` })
    }
    return this.#actor
  }

  get context(): PathContext {
    return this.#snapshot.context as PathContext
  }

  /** The workflow data now, or the output once ended. */
  get data(): Json {
    return this.output?.data ?? this.context.data
  }

  /** What the workflow gave; absent while it lives. */
  get output(): WorkflowOutput | undefined {
    const snapshot = this.#snapshot
    return snapshot.status === 'done' ? snapshot.output as WorkflowOutput : undefined
  }

  /** Where the instance stands; `waiting` when all that is left comes from outside. */
  get status(): 'active' | 'waiting' | 'completed' | 'aborted' | 'error' {
    const snapshot = this.#snapshot
    if (snapshot.status === 'done') return this.output?.ending === 'completed' ? 'completed' : 'aborted'
    if (snapshot.status !== 'active' || snapshot.hasTag(FAILED_TAG)) return 'error'
    return this.isQuiet ? 'waiting' : 'active'
  }

  /** No call is under way and nothing is left to do at once. */
  get isQuiet(): boolean {
    return this.#calls.size === 0 && this.#queue.length === 0
  }

  get failure(): RecordedFailure | undefined {
    const snapshot = this.#snapshot
    if (snapshot.status === 'error') return { ...toWorkflowError(snapshot.error), failedNodeId: '' }
    return snapshot.hasTag(FAILED_TAG) ? (snapshot.context as PathContext).failure : undefined
  }

  get continuation(): Continuation | undefined {
    return this.output?.continuation
  }

  /** The pending effects, by token. */
  get pending(): ReadonlyMap<string, { readonly input: EffectInput }> {
    return this.#effects
  }

  /** Waits for events that are open now. */
  get waits(): EventWait[] {
    return [...this.#effects.values()].flatMap(({ input }) => {
      const events = input.effect === 'event' ? this.#declaredEvents(input) : this.#awaitedEvents(input.token)
      return events.length === 0 ? [] : [{ token: input.token, events }]
    })
  }

  #declaredEvents(input: EffectInput): EventWait['events'] {
    const named = input['events'] as unknown as readonly { readonly event: string; readonly entry?: number }[]
    return named.flatMap(({ event, entry = 0 }) => {
      const definition = this.program.events.get(event)
      return definition === undefined ? [] : [{ definition, entry }]
    })
  }

  #awaitedEvents(token: string): EventWait['events'] {
    const type = this.#awaited.get(token)
    if (type === undefined) return []
    return [{ definition: { name: type, type, kind: 'consumed', dataOnly: true, correlation: [], metadata: {} }, entry: 0 }]
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
    this.#advance()
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
      this.#reporter.effect('timerFired', effect.input)
      const failure = timeout === undefined ? {} : { failure: timeoutError(timeout as TimeoutKind, Number(milliseconds)) }
      this.#answer(effect, { output: failure })
    }
    this.#advance()
    return true
  }

  /** An event came for a wait. Gives false when it is no longer open. */
  receive(token: string, entry: number, event: CloudEventRecord, correlation: Readonly<Record<string, string>>): boolean {
    const effect = this.#effects.get(token)
    if (effect === undefined) return false
    this.#reporter.effect('eventConsumed', effect.input, { type: event.type, id: event.id })
    const context = this.#contextOf(effect)
    const outcome = settled(() => chain(receiveEvent({ program: this.program, scope: this, context, input: effect.input, entry, event, correlation }), (output) => ({ output })))
    this.#take(effect, chain(outcome, (done): Prepared => ('prepared' in done ? done.prepared : { kind: 'outcome', outcome: done })))
    this.#advance()
    return true
  }

  replaceData(data: Json): void {
    this.#reporter.step({ type: 'dataReplaced', data })
    this.#send({ type: MACHINE_EVENTS.dataReplaced, data })
  }

  /** Ends the instance, compensating first. */
  abort(): void {
    this.#reporter.step({ type: 'aborted' })
    this.#send({ type: MACHINE_EVENTS.aborted })
  }

  /** Runs the failed node again. */
  retrigger(): void {
    this.#send({ type: MACHINE_EVENTS.retriggered })
  }

  /** Goes on behind the failed node. */
  skip(): void {
    this.#send({ type: MACHINE_EVENTS.skipped })
  }

  /** Enters a state, wherever the instance stands. */
  trigger(state: number): void {
    this.#send({ type: MACHINE_EVENTS.stateTriggered, data: state })
  }

  /** Carries out a pending effect again. */
  repeat(token: string): void {
    const effect = this.#effects.get(token)
    if (effect === undefined) return
    this.#environment.withdraw(this, token)
    this.#release(token)
    this.post(effect.ref, effect.input)
    this.#advance()
  }

  /** Moves the due instant of a pending timer. */
  reschedule(token: string, dueAt: number): void {
    const effect = this.#effects.get(token)
    if (effect?.input.effect !== 'timer') return
    this.#environment.withdraw(this, token)
    this.#moved.set(token, dueAt)
    this.post(effect.ref, effect.input)
  }

  /** Prepares an asynchronous action once more, from what its command carried: its host was stopped before it was done. */
  revive({ input, context }: DetachedOrigin): MaybePromise<Prepared> {
    const site = { ...siteOf(this.program, input), isGated: true }
    return prepareAction({ scope: this, facts: this.facts, log: this.#environment.log, site, context, token: input.token })
  }

  #send(event: { readonly type: string; readonly data?: unknown }): void {
    // What has passed its end takes nothing any more.
    if (this.#passed === undefined) this.#live.send(event)
    this.#advance()
  }

  // --- what the machines ask for ---

  get isObserved(): boolean {
    return this.#environment.inspect !== undefined
  }

  admit(input: JsonObject, token = this.nextToken()): EffectInput {
    const now = this.#environment.clock.now()
    const milliseconds = this.#milliseconds(input)
    const due = milliseconds === undefined ? undefined : { dueAt: now + milliseconds }
    return { ...input, token, since: now, ...due } as EffectInput
  }

  nextToken(): string {
    this.#sequence += 1
    return String(this.#sequence)
  }

  get isIdle(): boolean {
    return this.#queue.length === 0 && this.#evaluating === undefined && this.#ending === undefined && this.#restored === undefined
  }

  attempt(site: ActionSite, token: string, context: PathContext): Result | undefined {
    let result: Result | undefined
    try {
      this.#count()
      const prepared = this.#prepareAction(site, token, context)
      result = prepared instanceof Promise ? undefined : this.#resultOf(site.input, token, context, prepared)
      if (result === undefined) this.#attempted = { token, context, prepared }
    } catch (error) {
      result = { error: toWorkflowError(error) }
    }
    return result === undefined ? undefined : this.#conclude(site.input, result, context.data)
  }

  #milliseconds(input: JsonObject): number | undefined {
    if (input['timeout'] === 'workflow' && this.facts.timeout !== undefined) return this.facts.timeout
    return typeof input['milliseconds'] === 'number' ? input['milliseconds'] : undefined
  }

  post(ref: AnyActorRef, posted: EffectInput): void {
    const { token } = posted
    const moved = this.#moved.get(token) ?? this.#restored?.dueAt?.[token]
    const input = moved === undefined ? posted : { ...posted, dueAt: moved }
    if (moved !== undefined) this.#moved.set(token, moved)
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
    this.#awaited.delete(token)
    this.#release(token)
    if (this.#moved.size > 0) this.#moved.delete(token)
    this.#environment.withdraw(this, token)
  }

  #release(token: string): void {
    this.#calls.delete(token)
    if (this.#evaluating === token) this.#evaluating = undefined
  }

  enter(state: number, data: Json): void {
    this.#count()
    this.#reporter.entered(state, data)
  }

  chose(index: number, choice: number): void {
    this.#reporter.chose(index, choice)
  }

  retries(params: StepParams, { count, delay }: RetryProgress): void {
    this.#reporter.effect('actionRetried', params, { attempt: count, delay })
  }

  #count(): void {
    this.#steps += 1
    if (this.#steps <= this.#environment.maxSteps) return
    throw new InstanceError({
      code: 'INSTANCE_LOOP',
      message: `Instance ${this.facts.id} of "${this.facts.workflowId}" took ${String(this.#environment.maxSteps)} steps without waiting; ` +
        'give its loop an end, or raise sonatina.instances.max-steps',
    })
  }

  publish(context: PathContext): void {
    // Where one could not be made none is sent: the step is taken again.
    if (context.failure !== undefined) return
    for (const event of context.outbox ?? []) this.#emit(event)
  }

  #emit(event: CloudEventRecord): void {
    this.#reporter.step({ type: 'eventProduced', detail: { type: event.type, id: event.id } })
    this.#commands.push({ kind: 'publish', event })
  }

  bindings(context: PathContext): Bindings {
    return this.#bindings.at(context)
  }

  nextEventId(): string {
    this.#sequence += 1
    return `${this.facts.id}-${String(this.#sequence)}`
  }

  stamp(event: CloudEventRecord, context: PathContext): CloudEventRecord {
    return stampEvent(event, {
      facts: this.facts,
      correlation: context.correlation ?? {},
      now: this.#environment.clock.now(),
      kogito: this.#environment.kogitoAttributes,
    })
  }

  random(): number {
    return this.#environment.ids.random()
  }

  // --- carrying out effects ---

  /** Carries out what needs nothing from outside, one effect after another, until the machine rests. */
  #advance(): void {
    if (this.#ending === undefined) this.#drain()
    while (this.#ending !== undefined && this.#calls.size === 0) {
      this.#endNow(this.#ending)
      this.#drain()
    }
    if (this.isQuiet) this.#steps = 0
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
      this.#count()
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
    if (this.#restored === undefined && !site.isCondition) this.#reporter.actionStarted(site.compiled.place)
    return prepareAction({ scope: this, facts: this.facts, log: this.#environment.log, site, context, token })
  }

  // A branch that shares the workflow data reads it when its turn comes, not when it was spawned.
  #contextOf({ ref }: PendingEffect): PathContext {
    const machine = ref._parent
    if (machine === undefined || machine === this.#actor) return this.context
    const { context: own } = machine.getSnapshot() as { readonly context: PathContext }
    return own.own === true ? own : { ...this.context, ...own, data: this.context.data }
  }

  #dataOf({ ref }: PendingEffect): Json {
    const machine = ref._parent
    if (machine === undefined || machine === this.#actor) return this.context.data
    const { context: own } = machine.getSnapshot() as { readonly context: PathContext }
    return own.own === true ? own.data : this.context.data
  }

  #take(effect: PendingEffect, prepared: MaybePromise<Prepared>): void {
    const { input } = effect
    const { token } = input
    if (prepared instanceof Promise) {
      this.#calls.add(token)
      this.#commands.push({ kind: 'call', token, detached: false, run: () => settled(() => prepared.then((value) => ({ prepared: value }))) })
      return
    }
    const result = this.#resultOf(input, token, effect.context ?? this.context, prepared)
    if (result !== undefined) {
      this.#answer(effect, result)
    } else if (prepared.kind === 'await') {
      this.#awaited.set(token, prepared.type)
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
    this.#awaited.delete(input.token)
    if (this.#moved.size > 0) this.#moved.delete(input.token)
    const outcome = this.#conclude(input, given, this.#dataOf(effect))
    ref.send('error' in outcome
      ? { type: 'swf.effect.failed', error: outcome.error }
      : { type: 'swf.effect.completed', output: outcome.output })
  }

  /** Looks whether a result has a place in the data, and tells how an action ended. */
  #conclude(input: StepParams, given: Result, data: Json): Result {
    const outcome = mergeable(this.program, input, given, data)
    if (input['effect'] === 'action') this.#reporter.actionEnded(actionAt(this.program, addressOf(input)).place, outcome)
    return outcome
  }
}

/** Gives an actor that was made late, or is made now, the snapshot that its machine has reached. */
function adopt(scope: EarlyScope, snapshot: RootSnapshot): Root {
  const actor = scope.self as unknown
  const inside = actor as { _snapshot: RootSnapshot; readonly _deferred: (() => void)[] }
  inside._snapshot = snapshot
  inside._deferred.push(...scope.takeDeferred())
  return actor as Root
}
