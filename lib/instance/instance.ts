import { createActor, type AnyActorRef, type InspectionEvent } from 'xstate'
import type { Json } from '../common/index.ts'
import { InstanceError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { Bindings, MaybePromise } from '../expressions/index.ts'
import { FAILED_TAG, MACHINE_EVENTS } from '../translation/index.ts'
import type { Command, DetachedOrigin, EventWait, Outcome, Prepared } from './commands.ts'
import type { Continuation, PathContext, RecordedFailure, WorkflowOutput } from './context.ts'
import { Desk } from './desk.ts'
import { registerDesk, type EffectInput } from './effect.ts'
import type { Beginning, Deployment, InstanceEnvironment, PersistedInstance } from './environment.ts'
import type { InstanceFacts } from './facts.ts'
import { LightMachine } from './loop/light-machine.ts'
import type { BoundMachines, RootInput, WorkflowMachine } from './machine.ts'
import type { Program } from './program.ts'
import { Reporter } from './reporter.ts'
import { toWorkflowError } from './workflow-error.ts'

type Root = ReturnType<typeof createActor<WorkflowMachine>>
type RootSnapshot = ReturnType<Root['getSnapshot']>

/**
 * One run of a workflow: a live XState actor, from the moment it first waits, and what it waits for.
 *
 * Does no I/O. Every call that moves it on ends with the machine at rest; what is then to be done outside is taken with
 * {@link Instance.takeCommands} and answered with {@link Instance.settle} or {@link Instance.fire}. Answers with a token that is
 * no longer pending are ignored.
 */
export class Instance {
  readonly facts: InstanceFacts
  readonly program: Program
  readonly #environment: InstanceEnvironment
  readonly #machines: BoundMachines
  readonly #reporter: Reporter
  readonly #desk: Desk
  #actor: Root | undefined
  /** What runs it until it first waits, and the machine that its actor will then be of. */
  #light: LightMachine | undefined
  #machineToBe: WorkflowMachine | undefined

  constructor(facts: InstanceFacts, { program, machines }: Deployment, environment: InstanceEnvironment) {
    this.facts = facts
    this.program = program
    this.#machines = machines
    this.#environment = environment
    const { report } = environment
    this.#reporter = new Reporter(program, report === undefined ? undefined : (step) => { report(this, step) })
    this.#desk = new Desk({ facts, program, environment, reporter: this.#reporter }, this)
  }

  /** Starts the actor and runs it until it rests. */
  begin({ startFrom, correlation }: Beginning = {}): void {
    this.#reporter.step({ type: 'started', data: this.facts.input })
    const { variables } = this.facts
    // With places for what nearly every instance comes to have: a copy that gets a new member is many times as slow.
    const places = { state: undefined, choice: undefined, join: undefined } as unknown as Partial<PathContext>
    const context: PathContext = { data: this.facts.input, ...places, ...(variables === undefined ? {} : { variables }), ...(correlation === undefined ? {} : { correlation }) }
    const machine = startFrom === undefined ? this.#machines.root : this.#machines.startingAt(startFrom)
    const logic = machine.lightly(this.#desk, context)
    if (logic === undefined) this.#run(this.#actorOf(machine, { desk: this.#desk, context }))
    else this.#runLightly(machine, new LightMachine({ parent: undefined, id: this.facts.id, src: '' }, logic))
  }

  #runLightly(machine: WorkflowMachine, light: LightMachine): void {
    this.#machineToBe = machine
    this.#light = light
    light.start()
    this.#desk.started()
    this.#rested()
  }

  /** Where it waits, and not only for a call under way, it becomes an actor. */
  #rested(): void {
    const light = this.#light
    if (light === undefined || this.#machineToBe === undefined || !this.isQuiet) return
    const reached = light.getSnapshot() as unknown as RootSnapshot
    if (reached.status !== 'active') return
    const actor = this.#actorOf(this.#machineToBe, { desk: this.#desk, context: reached.context as PathContext, reached })
    light.replaceBy(actor)
    this.#light = undefined
    this.#start(actor)
  }

  #actorOf(machine: WorkflowMachine, input: RootInput): Root {
    return createActor(machine, { id: this.facts.id, input, ...this.#inspection() })
  }

  /** Brings an instance back from its stored form; pending effects post their commands again. */
  resume(persisted: PersistedInstance): void {
    this.#desk.restoring(persisted, () => {
      this.#run(createActor(this.#machines.root, { id: this.facts.id, snapshot: persisted.snapshot, input: { desk: this.#desk }, ...this.#inspection() }))
    })
  }

  // The observer has to be there from the start: the first steps are taken while the actor is made.
  #inspection(): { inspect?: (event: InspectionEvent) => void } {
    const { inspect } = this.#environment
    return inspect === undefined ? {} : { inspect: (event) => { inspect(this, event) } }
  }

  #run(actor: Root): void {
    this.#start(actor)
    this.#desk.started()
  }

  #start(actor: Root): void {
    this.#actor = actor
    registerDesk(actor.system, this.#desk)
    // Without an observer XState reports errors of a root actor to the process.
    actor.subscribe({ error: () => undefined })
    actor.start()
  }

  /** The stored form; call it only at rest. */
  persist(): PersistedInstance {
    return { snapshot: this.#machine.getPersistedSnapshot(), ...this.#desk.persist() }
  }

  get #snapshot(): RootSnapshot {
    return this.#machine.getSnapshot() as RootSnapshot
  }

  get #machine(): Root | LightMachine {
    const machine = this.#actor ?? this.#light
    if (machine === undefined) throw new InstanceError({ code: 'INSTANCE_NOT_FOUND', message: `Instance ${this.facts.id} has not begun` })
    return machine
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

  get failure(): RecordedFailure | undefined {
    const snapshot = this.#snapshot
    if (snapshot.status === 'error') return { ...toWorkflowError(snapshot.error), failedNodeId: '' }
    return snapshot.hasTag(FAILED_TAG) ? (snapshot.context as PathContext).failure : undefined
  }

  get continuation(): Continuation | undefined {
    return this.output?.continuation
  }

  /** No call is under way and nothing is left to do at once. */
  get isQuiet(): boolean {
    return this.#desk.isQuiet
  }

  /** The pending effects, by token. */
  get pending(): ReadonlyMap<string, { readonly input: EffectInput }> {
    return this.#desk.pending
  }

  /** Waits for events that are open now. */
  get waits(): EventWait[] {
    return this.#desk.waits
  }

  /** Name of the node that a pending effect belongs to. */
  nodeIdOf(token: string): string {
    return this.#desk.nodeIdOf(token)
  }

  /** Variables for expressions that look at the instance from outside. */
  bindings(context: PathContext): Bindings {
    return this.#desk.bindings(context)
  }

  /** What is to be done outside; each command is given once, and none that was given up before it was taken. */
  takeCommands(): readonly Command[] {
    return this.#desk.takeCommands()
  }

  /** Takes the answer to a command. Gives false when nobody waits for it any more. */
  settle(token: string, outcome: Outcome): boolean {
    const isPending = this.#desk.settle(token, outcome)
    this.#rested()
    return isPending
  }

  /** A timer is due. Gives false when it was given up. */
  fire(token: string): boolean {
    const isPending = this.#desk.fire(token)
    this.#rested()
    return isPending
  }

  /** An event came for a wait. Gives false when it is no longer open. */
  receive(token: string, entry: number, event: CloudEventRecord, correlation: Readonly<Record<string, string>>): boolean {
    const isOpen = this.#desk.receive(token, entry, event, correlation)
    this.#rested()
    return isOpen
  }

  /** Carries out a pending effect again. */
  repeat(token: string): void {
    this.#desk.repeat(token)
    this.#rested()
  }

  /** Moves the due instant of a pending timer. */
  reschedule(token: string, dueAt: number): void {
    this.#desk.reschedule(token, dueAt)
  }

  /** Prepares an asynchronous action once more, from what its command carried: its host was stopped before it was done. */
  revive(origin: DetachedOrigin): MaybePromise<Prepared> {
    return this.#desk.revive(origin)
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

  #send(event: { readonly type: string; readonly data?: unknown }): void {
    this.#machine.send(event)
    this.#desk.advance()
    this.#rested()
  }

  // --- what its effects ask for ---

  /** Whether a machine is that of the workflow, and not of a branch or iteration. */
  isRoot(machine: AnyActorRef): boolean {
    return machine === this.#actor || machine === this.#light?.self
  }

  /** Told when an effect is given up. */
  withdraw(token: string): void {
    this.#environment.withdraw(this, token)
  }
}
