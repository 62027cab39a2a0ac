import type { Cancel, Clock } from '../common/index.ts'
import type { EventState } from '../definition/index.ts'
import { correlationOf, isCorrelated, isEventOf, type CloudEventRecord, type CorrelationValues } from '../events/index.ts'
import type { DeployedWorkflow } from './deployments.ts'

/** An instance that events begin. */
export interface EventStart {
  readonly workflow: DeployedWorkflow
  readonly events: readonly CloudEventRecord[]
  readonly correlation: CorrelationValues
}

interface Gathering {
  readonly events: Map<string, CloudEventRecord>
  correlation: CorrelationValues
  readonly end: Cancel
}

/**
 * Knows which definitions begin with an event, and gathers events for those that need several (S030–S033).
 *
 * In profile `sonataflow` any one event begins an instance, as there.
 */
export class EventStarts {
  readonly #clock: Clock
  readonly #gathering = new Map<DeployedWorkflow, Gathering[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes an event and gives the instances that begin now. */
  take(workflows: readonly DeployedWorkflow[], event: CloudEventRecord): readonly EventStart[] {
    return workflows.flatMap((workflow) => this.#takeFor(workflow, event))
  }

  /** Forgets what was gathered. */
  close(): void {
    for (const gatherings of this.#gathering.values()) for (const { end } of gatherings) end()
    this.#gathering.clear()
  }

  #takeFor(workflow: DeployedWorkflow, event: CloudEventRecord): readonly EventStart[] {
    const state = startingEventState(workflow)
    if (state === undefined) return []
    const matching = refsOf(state).flatMap((ref) => {
      const correlation = match(workflow, ref, event)
      return correlation === undefined ? [] : [{ ref, correlation }]
    })
    const [first] = matching
    if (first === undefined) return []
    if (state.exclusive || workflow.program.profile === 'sonataflow') return [{ workflow, events: [event], correlation: first.correlation }]
    return this.#gather(workflow, state, matching, event)
  }

  #gather(workflow: DeployedWorkflow, state: EventState, matching: readonly { ref: string; correlation: CorrelationValues }[], event: CloudEventRecord): readonly EventStart[] {
    const gatherings = this.#gathering.get(workflow) ?? []
    this.#gathering.set(workflow, gatherings)
    const open = gatherings.flatMap((gathering) => matching
      .filter(({ ref, correlation }) => !gathering.events.has(ref) && isCorrelated(gathering.correlation, correlation))
      .map((match) => ({ gathering, ...match })))[0]
    const { ref, correlation } = open ?? matching[0] ?? { ref: '', correlation: {} }
    const gathering = open?.gathering ?? this.#open(gatherings, state)
    gathering.events.set(ref, event)
    gathering.correlation = { ...correlation, ...gathering.correlation }
    if (gathering.events.size < refsOf(state).length) return []
    gathering.end()
    return [{ workflow, events: [...gathering.events.values()], correlation: gathering.correlation }]
  }

  // The time counts from the first event; when it is up the others came to nothing.
  #open(gatherings: Gathering[], state: EventState): Gathering {
    const timeout = state.timeouts.eventTimeout
    const forget = (): void => { gatherings.splice(gatherings.indexOf(gathering), 1) }
    const cancel = timeout === undefined ? (): void => undefined : this.#clock.at(this.#clock.now() + timeout, forget)
    const gathering: Gathering = {
      events: new Map(),
      correlation: {},
      end: () => {
        cancel()
        if (gatherings.includes(gathering)) forget()
      },
    }
    gatherings.push(gathering)
    return gathering
  }
}

/** The event state that a definition starts with, if it does. */
export function startingEventState({ program }: DeployedWorkflow): EventState | undefined {
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
