import type { Clock, IdSource, Json, JsonObject, Logger } from '../common/index.ts'
import type { CloudEventRecord, CorrelationValues } from '../events/index.ts'
import type { CallCommand, Command, Continuation, HistoryStep, InstanceEnvironment, InstanceFacts, ParentLink, PersistedInstance, SecretReader, SubflowCommand } from '../instance/index.ts'
import type { HostError } from '../errors/index.ts'
import type { DeployedWorkflow, Deployments } from './deployments.ts'
import type { Durability } from './durability.ts'
import type { Delivery, InstanceRecord, StartRequest } from './host.ts'
import type { Journal } from './journal.ts'
import type { DurableLife, Keeper, LiveInstance, SubflowEnd } from './live-instance.ts'
import type { Lives } from './lives.ts'
import type { WaitIndex } from './wait-index.ts'
import type { WorkQueue } from './work-queue.ts'

/** What a host of instances needs. */
export interface KernelOptions {
  readonly deployments: Deployments
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  readonly secrets: SecretReader
  /** Sends a produced event to where it belongs outside. */
  readonly publish: (event: CloudEventRecord) => void
  /** Produced events come back as incoming ones. */
  readonly loopback: boolean
  /** Whether events begin instances of a definition here; they do when it is absent. */
  readonly begins?: (workflowId: string) => boolean
  /** @default 100000 */
  readonly maxSteps?: number
  /** Produced events carry the attributes in the spelling of Kogito too. @default false */
  readonly kogitoAttributes?: boolean
  /** Most instances alive at a time; unlimited when absent. */
  readonly maxActive?: number
  /** Milliseconds for which ended instances can still be found. @default 0 */
  readonly retention?: number
  /** Called in place of starting a sub-flow of that id. */
  readonly subflows?: ReadonlyMap<string, (input: Json, signal: AbortSignal, version?: string) => Json | Promise<Json>>
  /** Receives every step of every instance. */
  readonly onStep?: (step: HistoryStep, instance: InstanceFacts) => void
  /** Told when an instance rests: it waits, failed, or ended. */
  readonly onRest?: (record: InstanceRecord, instance: InstanceFacts) => void
  /** Gives the observer of a new instance, which then runs in XState's own loop; none: it keeps the fast one. */
  readonly inspect?: (instance: InstanceFacts) => InstanceEnvironment['inspect']
  /** Keeps instances beyond the process; absent in a host that forgets them. */
  readonly durability?: Durability
}

/** An instance to be made. */
export interface NewInstance {
  readonly workflow: DeployedWorkflow
  readonly input: Json
  readonly headers: Readonly<Record<string, string>>
  readonly request?: StartRequest
  readonly parent?: { readonly live: LiveInstance; readonly link: ParentLink }
  readonly variables?: JsonObject
  readonly timeout?: number
  /** Intention of the store that this instance carries out. */
  readonly effectId?: string
}

/** How an instance begins. */
export interface Begin {
  readonly startFrom?: string
  readonly events?: readonly CloudEventRecord[]
  readonly correlation?: CorrelationValues
}

/** Makes instances and lets them begin. */
export interface Births {
  /** @throws {@link HostError} `HOST_CLOSED`, `HOST_BUSY` */
  admit(): void
  /** @throws {@link DefinitionError} `DEFINITION_NOT_FOUND` */
  workflow(id: string, version?: string): DeployedWorkflow
  create(made: NewInstance): LiveInstance
  /** @throws {@link InstanceError} `INSTANCE_START_INVALID` */
  begin(live: LiveInstance, how?: Begin): void
  /** Brings an instance back that was put away. */
  restore(facts: InstanceFacts, workflow: DeployedWorkflow, persisted: PersistedInstance | undefined, life: DurableLife): LiveInstance
}

/** Moves instances on. */
export interface Turns {
  turn(live: LiveInstance, move: () => void): void
  execute(live: LiveInstance, command: Command): void
  call(live: LiveInstance, command: CallCommand): void
  /** Looks at what an instance came to: ends it, records its failure, answers its callers. */
  rest(live: LiveInstance): void
  release(live: LiveInstance): void
}

/** Starts sub-flows and hands their results to their parents. */
export interface Subflows {
  start(live: LiveInstance, command: SubflowCommand, effectId?: string): void
  /** A sub-flow failed or ended: what it gave is the action's result, its error the action's error (S187, S193). */
  moved(child: LiveInstance): void
  deliver(parent: LiveInstance, command: SubflowCommand, end: SubflowEnd): void
}

/** Ends instances. */
export interface Ends {
  /** Checks what an instance gave, notes when it ended, and records its end or failure: before anybody hears of it. */
  conclude(live: LiveInstance): void
  end(live: LiveInstance): void
  fail(live: LiveInstance): void
  drop(live: LiveInstance): void
  /** Aborts an instance, if it is still there. */
  stop(id: string): void
  /** Goes on as another instance (S276). */
  continue(from: InstanceFacts, continuation: Continuation, effectId?: string): void
}

/** What an event has come to among the instances that live. */
export interface Signalled {
  /** Those that took it. */
  readonly instances: readonly string[]
  /** Definitions of which an instance took it where it begins, as `<id>\n<version>`. */
  readonly taken: readonly string[]
  /** Whether it may begin instances of other definitions. */
  readonly mayBegin: boolean
}

/** Hands events to instances. */
export interface Router {
  deliver(event: CloudEventRecord): Delivery
  /** The first half of `deliver`: whether an instance asks for just this event. */
  isCorrelated(event: CloudEventRecord): boolean
  /** Hands an event to those that wait for it, or only to those that ask for just this one. */
  signal(event: CloudEventRecord, onlyCorrelated: boolean): Signalled
  /** Begins what an event begins, but for the definitions that are named; gives the instances. */
  begin(event: CloudEventRecord, taken: readonly string[]): readonly string[]
  /** Sends an event out, and back in where produced events come back. */
  emit(event: CloudEventRecord): void
}

/** What instances that outlive the process need from the rest. */
export interface Durables extends Keeper {
  /** How many instances live in the store only. */
  readonly putAway: number
  /** Why the store cannot be written now. */
  readonly problem: HostError | undefined
  /** What a new instance of the workflow keeps beside its machine; absent where instances are not kept. @throws {@link HostError} */
  lifeOf(made: NewInstance): DurableLife | undefined
  /** An instance in memory, or brought back from the store. */
  find(id: string): LiveInstance | undefined
  /** Brings back those that wait for an event. */
  awaken(event: CloudEventRecord): void
  /** Whether an event is new to an instance; it is then known. */
  isNew(event: CloudEventRecord, live: LiveInstance): boolean
  /** Whether an event is new to the starts of a definition; it is then known. */
  isNewStart(event: CloudEventRecord, workflow: DeployedWorkflow): boolean
  /** Begins to carry an intention out; gives false when that is under way already. */
  carry(effectId: string): boolean
  /** The write that belongs to the commit by which an intention is carried out. */
  carried(effectId: string): (journal: Journal) => void
  /** An intention that the store holds is carried out. */
  done(effectId: string): void
  /** Nobody waits for the result of a sub-flow any more. */
  release(childId: string, parentId: string): void
}

/** The parts of a kernel, as they see each other. */
export interface Parts {
  readonly options: KernelOptions
  readonly lives: Lives
  readonly queue: WorkQueue
  readonly waits: WaitIndex
  readonly births: Births
  readonly turns: Turns
  readonly subflows: Subflows
  readonly ends: Ends
  readonly router: Router
  readonly durables?: Durables
}
