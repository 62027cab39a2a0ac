import type { Clock, Json } from '../common/index.ts'
import { DataInputError, DefinitionError, HostError, InstanceError } from '../errors/index.ts'
import { Instance, versionOf, type HistoryStep, type InstanceFacts, type PersistedInstance } from '../instance/index.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { StartRequest } from './host.ts'
import { OwnInstance, type DurableLife, type LiveInstance, type UnplacedStep } from './live-instance.ts'
import type { Begin, Births, NewInstance, Parts } from './parts.ts'

/** Creates what makes instances and lets them begin. */
export function createBirths(parts: Parts, isClosing: () => boolean): Births {
  const { options, lives, waits } = parts

  function make(facts: InstanceFacts, workflow: DeployedWorkflow, durable: DurableLife | undefined): LiveInstance {
    const { clock, ids, log, secrets, maxSteps = 100_000, kogitoAttributes = false } = options
    const report = stepReporter(parts, facts, durable, () => live)
    const inspect = options.inspect?.(facts)
    const environment = {
      clock,
      ids,
      log,
      secrets,
      maxSteps,
      kogitoAttributes,
      callsAtOnce: durable === undefined ? 'all' as const : 'pure' as const,
      withdraw: (_instance: Instance, token: string): void => { withdraw(live, token) },
      ...(inspect === undefined ? {} : { inspect }),
      ...(report === undefined ? {} : { report: (_instance: Instance, step: UnplacedStep): void => { report(step) } }),
    }
    const live = new OwnInstance({
      instance: new Instance(facts, workflow, environment),
      facts,
      workflow,
      ...(report === undefined ? {} : { report }),
      ...(durable === undefined ? {} : { durable }),
    })
    return live
  }

  function withdraw(live: LiveInstance, token: string): void {
    if (live.isAlone === true) return
    live.timers.get(token)?.()
    live.timers.delete(token)
    live.calls.get(token)?.abort()
    live.calls.delete(token)
    const subflow = live.subflows.get(token)
    if (subflow === undefined) return
    live.subflows.delete(token)
    live.durable?.keeper.stopping(live, subflow.childId)
    parts.queue.add(() => { parts.ends.stop(subflow.childId) })
  }

  return {
    admit() {
      if (isClosing()) throw new HostError({ code: 'HOST_CLOSED', message: 'The host is closing and starts nothing new; try another replica' })
      const { maxActive } = options
      if (maxActive !== undefined && lives.size + (parts.durables?.putAway ?? 0) >= maxActive) {
        throw new HostError({ code: 'HOST_BUSY', message: `There are ${String(maxActive)} active instances (sonatina.instances.max-active); try again later` })
      }
    },
    workflow(id, version) {
      const workflow = options.deployments.find(id, version)
      if (workflow !== undefined) return workflow
      const which = version === undefined ? `"${id}"` : `"${id}" in version ${version}`
      throw new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `There is no workflow ${which}` })
    },
    create(made) {
      const live = make(factsOf(parts, made), made.workflow, parts.durables?.lifeOf(made))
      lives.add(live)
      return live
    },
    begin(live, how = {}) {
      const state = startOf(live, how)
      parts.turns.turn(live, () => {
        const { events = [], correlation } = how
        live.instance.begin({ ...(state === undefined ? {} : { startFrom: state }), ...(correlation === undefined ? {} : { correlation }) })
        for (const event of events) {
          waits.update(live)
          const match = waits.find(event).find((candidate) => candidate.live === live)
          if (match !== undefined) live.instance.receive(match.token, match.entry, event, match.correlation)
        }
      })
    },
    restore(facts: InstanceFacts, workflow: DeployedWorkflow, persisted: PersistedInstance | undefined, durable: DurableLife) {
      const live = make(facts, workflow, durable)
      // What has ended is only made again to prepare what it left behind.
      if (persisted === undefined) return live
      lives.add(live)
      live.instance.resume(persisted)
      waits.update(live)
      return live
    },
  }

  function startOf(live: LiveInstance, { startFrom }: Begin): number | undefined {
    if (startFrom === undefined) return undefined
    const state = live.workflow.program.stateIndex.get(startFrom)
    if (state !== undefined) return state
    lives.remove(live)
    throw new InstanceError({ code: 'INSTANCE_START_INVALID', message: `Workflow "${live.facts.workflowId}" has no state "${startFrom}" to start from` })
  }
}

function factsOf({ options }: Parts, { workflow, input, headers, request, parent, variables, timeout }: NewInstance): InstanceFacts {
  return {
    id: options.ids.next(),
    workflowId: workflow.program.definition.id,
    version: versionOf(workflow.program, input),
    input,
    headers,
    startedAt: options.clock.now(),
    ...fromRequest(request),
    ...(parent === undefined ? {} : { parent: parent.link }),
    ...(variables === undefined ? {} : { variables }),
    ...(timeout === undefined ? {} : { timeout }),
  }
}

function fromRequest(request: StartRequest | undefined): Partial<InstanceFacts> {
  if (request === undefined) return {}
  const { identity, businessKey, referenceId } = request
  return {
    ...(identity === undefined ? {} : { identity }),
    ...(businessKey === undefined ? {} : { businessKey }),
    ...(referenceId === undefined ? {} : { referenceId }),
  }
}

function stepReporter({ options: { clock, onStep } }: Parts, facts: InstanceFacts, durable: DurableLife | undefined, live: () => LiveInstance): ((step: UnplacedStep) => void) | undefined {
  if (durable !== undefined) {
    return (unplaced) => {
      const step = placed(unplaced, durable.nextStep++, clock)
      durable.keeper.note(live(), step)
      onStep?.(step, facts)
    }
  }
  if (onStep === undefined) return undefined
  let sequence = 0
  return (unplaced) => { onStep(placed(unplaced, sequence++, clock), facts) }
}

// Steps are made for this call alone: they get their place without another copy.
function placed(unplaced: UnplacedStep, sequence: number, clock: Clock): HistoryStep {
  const step = unplaced as UnplacedStep & { sequence: number; at: number }
  step.sequence = sequence
  step.at = clock.now()
  return step
}

/** @throws {@link DataInputError} `DATA_INPUT_INVALID`, listing each violation (S023–S025) */
export function validateInput({ validateInput: check, program }: DeployedWorkflow, input: Json): void {
  const violations = check?.(input) ?? []
  if (violations.length === 0) return
  const list = violations.map(({ pointer, message }) => `${pointer || '/'} ${message}`).join('; ')
  throw new DataInputError({
    code: 'DATA_INPUT_INVALID',
    message: `The input does not fit the schema of "${program.definition.id}": ${list}`,
    details: { violations },
  })
}
