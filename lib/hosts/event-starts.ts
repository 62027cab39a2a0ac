import type { Cancel, Clock, IdSource } from '../common/index.ts'
import type { EventState } from '../definition/index.ts'
import { correlationOf, isCorrelated, isEventOf, type CloudEventRecord, type CorrelationValues } from '../events/index.ts'
import type { DeployedWorkflow } from './deployments.ts'

/** An instance that events begin. */
export interface EventStart {
  readonly workflow: DeployedWorkflow
  readonly events: readonly CloudEventRecord[]
  readonly correlation: CorrelationValues
}

/** Events gathered so far for an instance that needs several. */
export interface Gathered {
  readonly id: string
  readonly events: ReadonlyMap<string, CloudEventRecord>
  readonly correlation: CorrelationValues
  /** Milliseconds since the epoch. */
  readonly since: number
}

/** Keeps gatherings beyond the process. */
export interface GatheringKeeper {
  gathered(workflow: DeployedWorkflow, gathered: Gathered): void
  given(workflow: DeployedWorkflow, id: string): void
}

interface Gathering {
  readonly id: string
  readonly events: Map<string, CloudEventRecord>
  correlation: CorrelationValues
  readonly since: number
  end: Cancel
}

/**
 * Knows which definitions begin with an event, and gathers events for those that need several (S030–S033).
 *
 * In profile `sonataflow` any one event begins an instance, as there.
 */
export class EventStarts {
  readonly #clock: Clock
  readonly #ids: IdSource
  readonly #gathering = new Map<DeployedWorkflow, Gathering[]>()
  #keeper: GatheringKeeper | undefined

  constructor(clock: Clock, ids: IdSource) {
    this.#clock = clock
    this.#ids = ids
  }

  /** Tells a keeper of every change from now on. */
  keepWith(keeper: GatheringKeeper): void {
    this.#keeper = keeper
  }

  /** Takes an event and gives the instances that begin now; `isNew` says whether a definition has not had it before. */
  take(workflows: readonly DeployedWorkflow[], event: CloudEventRecord, isNew: (event: CloudEventRecord, workflow: DeployedWorkflow) => boolean): readonly EventStart[] {
    return workflows.flatMap((workflow) => this.#takeFor(workflow, event, isNew))
  }

  /** Takes a gathering up again that was kept. */
  restore(workflow: DeployedWorkflow, { id, events, correlation, since }: Gathered): void {
    const state = startingEventState(workflow)
    const gatherings = this.#gatheringsOf(workflow)
    if (state === undefined || gatherings.some((open) => open.id === id)) return
    const gathering = this.#open(workflow, gatherings, state, { id, since })
    for (const [ref, event] of events) gathering.events.set(ref, event)
    gathering.correlation = correlation
  }

  /** Forgets what was gathered; what a keeper has stays there. */
  forget(): void {
    const keeper = this.#keeper
    this.#keeper = undefined
    for (const gatherings of this.#gathering.values()) for (const { end } of [...gatherings]) end()
    this.#gathering.clear()
    this.#keeper = keeper
  }

  #takeFor(workflow: DeployedWorkflow, event: CloudEventRecord, isNew: (event: CloudEventRecord, workflow: DeployedWorkflow) => boolean): readonly EventStart[] {
    const state = startingEventState(workflow)
    if (state === undefined) return []
    const matching = refsOf(state).flatMap((ref) => {
      const correlation = match(workflow, ref, event)
      return correlation === undefined ? [] : [{ ref, correlation }]
    })
    const [first] = matching
    if (first === undefined || !isNew(event, workflow)) return []
    if (state.exclusive || workflow.program.profile === 'sonataflow') return [{ workflow, events: [event], correlation: first.correlation }]
    return this.#gather(workflow, state, matching, event)
  }

  #gatheringsOf(workflow: DeployedWorkflow): Gathering[] {
    const gatherings = this.#gathering.get(workflow) ?? []
    this.#gathering.set(workflow, gatherings)
    return gatherings
  }

  #gather(workflow: DeployedWorkflow, state: EventState, matching: readonly { ref: string; correlation: CorrelationValues }[], event: CloudEventRecord): readonly EventStart[] {
    const gatherings = this.#gatheringsOf(workflow)
    const open = gatherings.flatMap((gathering) => matching
      .filter(({ ref, correlation }) => !gathering.events.has(ref) && isCorrelated(gathering.correlation, correlation))
      .map((match) => ({ gathering, ...match })))[0]
    const { ref, correlation } = open ?? matching[0] ?? { ref: '', correlation: {} }
    const gathering = open?.gathering ?? this.#open(workflow, gatherings, state, { id: this.#ids.next(), since: this.#clock.now() })
    gathering.events.set(ref, event)
    gathering.correlation = { ...correlation, ...gathering.correlation }
    if (gathering.events.size < refsOf(state).length) {
      this.#keeper?.gathered(workflow, gathering)
      return []
    }
    gathering.end()
    return [{ workflow, events: [...gathering.events.values()], correlation: gathering.correlation }]
  }

  // The time counts from the first event; when it is up the others came to nothing.
  #open(workflow: DeployedWorkflow, gatherings: Gathering[], state: EventState, { id, since }: { id: string; since: number }): Gathering {
    const gathering: Gathering = { id, events: new Map(), correlation: {}, since, end: () => undefined }
    const forget = (): void => {
      if (!gatherings.includes(gathering)) return
      gatherings.splice(gatherings.indexOf(gathering), 1)
      this.#keeper?.given(workflow, id)
    }
    const timeout = state.timeouts.eventTimeout
    const cancel = timeout === undefined ? (): void => undefined : this.#clock.at(since + timeout, forget)
    gathering.end = () => {
      cancel()
      forget()
    }
    gatherings.push(gathering)
    return gathering
  }
}

/** The event state that a definition starts with, if it does. */
function startingEventState({ program }: DeployedWorkflow): EventState | undefined {
  const index = program.stateIndex.get(program.definition.start.stateName)
  const state = index === undefined ? undefined : program.states[index]?.state
  return state?.type === 'event' ? state : undefined
}

function refsOf(state: EventState): readonly string[] {
  return [...new Set(state.onEvents.flatMap(({ eventRefs }) => eventRefs))]
}

function match({ program }: DeployedWorkflow, ref: string, event: CloudEventRecord): CorrelationValues | undefined {
  const definition = program.events.get(ref)
  if (definition === undefined || !isEventOf(definition, event, program.profile === 'sonataflow' ? 'type' : 'type-and-source')) return undefined
  return correlationOf(definition, event)
}
