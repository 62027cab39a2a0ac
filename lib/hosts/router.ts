import type { CloudEventRecord } from '../events/index.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { EventStart, EventStarts } from './event-starts.ts'
import type { StartRequest } from './host.ts'
import type { LiveInstance } from './live-instance.ts'
import type { Parts, Router, Signalled } from './parts.ts'

/** Creates what routes events (http-contract.md §5): to instances that wait, to those named, to definitions that begin with them. */
export function createRouter(parts: Parts, starts: EventStarts): Router {
  const { options, queue, waits } = parts

  const isNew = (event: CloudEventRecord, workflow: DeployedWorkflow): boolean => parts.durables?.isNewStart(event, workflow) ?? true

  const keyOf = ({ program: { definition } }: DeployedWorkflow): string => `${definition.id}\n${definition.version}`

  function isCorrelated(event: CloudEventRecord): boolean {
    return waits.find(event).some(({ correlation }) => Object.keys(correlation).length > 0)
  }

  function signal(event: CloudEventRecord, onlyCorrelated: boolean): Signalled {
    const reference = textOf(event, 'wfprocrefid', 'kogitoprocrefid')
    const businessKey = textOf(event, 'wfbusinesskey', 'kogitobusinesskey')
    parts.durables?.awaken(event)
    const matches = waits.find(event)
    const correlated = matches.filter(({ correlation }) => Object.keys(correlation).length > 0)
    const chosen = correlated.length > 0 || onlyCorrelated ? correlated : matches.filter(({ live }) =>
      (reference === undefined || live.facts.id === reference) && (businessKey === undefined || live.facts.businessKey === businessKey))
    const instances: string[] = []
    const taken = chosen.filter(({ live, token }) => isAtStart(live, token)).map(({ live }) => keyOf(live.workflow))
    const known = new Set([...new Set(chosen.map(({ live }) => live))].filter((live) => live.durable !== undefined && parts.durables?.isNew(event, live) === false))
    for (const { live, token, entry, correlation } of chosen) {
      if (known.has(live)) continue
      parts.turns.turn(live, () => {
        if (live.instance.receive(token, entry, event, correlation)) instances.push(live.facts.id)
      })
    }
    const mayBegin = !onlyCorrelated && correlated.length === 0 && reference === undefined && (businessKey === undefined || instances.length === 0)
    return { instances, taken, mayBegin }
  }

  function begin(event: CloudEventRecord, taken: readonly string[]): readonly string[] {
    // An instance that waits where its definition begins takes the event itself; it does not begin another.
    const others = options.deployments.list().filter((workflow) => !taken.includes(keyOf(workflow)) && options.begins?.(workflow.program.definition.id) !== false)
    const businessKey = textOf(event, 'wfbusinesskey', 'kogitobusinesskey')
    return starts.take(others, event, isNew).map((begun) => beginBy(begun, event, businessKey))
  }

  function deliver(event: CloudEventRecord): { readonly instances: readonly string[] } {
    const { instances, taken, mayBegin } = signal(event, false)
    const all = mayBegin ? [...instances, ...begin(event, taken)] : instances
    if (all.length === 0) options.log.debug({ event: event.id, type: event.type }, 'event ignored: nothing waits for it')
    return { instances: all }
  }

  function beginBy({ workflow, events, correlation }: EventStart, event: CloudEventRecord, businessKey: string | undefined): string {
    const referenceId = textOf(event, 'wfprocinstanceid', 'kogitoprocinstanceid')
    const startFrom = textOf(event, 'wfprocstartfrom', 'kogitoprocstartfrom')
    const request: StartRequest = {
      workflowId: workflow.program.definition.id,
      input: {},
      ...(businessKey === undefined ? {} : { businessKey }),
      ...(referenceId === undefined ? {} : { referenceId }),
    }
    const live = parts.births.create({ workflow, input: {}, headers: attributesOf(event), request })
    parts.births.begin(live, { events, correlation, ...(startFrom === undefined ? {} : { startFrom }) })
    return live.facts.id
  }

  return {
    deliver,
    isCorrelated,
    signal,
    begin,
    emit(event) {
      options.publish(event)
      if (options.loopback) queue.add(() => { deliver(event) })
    },
  }
}

/** Whether an instance waits where its definition begins. */
export function isAtStart({ instance, workflow }: LiveInstance, token: string): boolean {
  const { program } = workflow
  return Number(instance.pending.get(token)?.input['state']) === program.stateIndex.get(program.definition.start.stateName)
}

/** The first attribute of an event that has text, by the names that it may have. */
export function textOf(event: CloudEventRecord, ...names: readonly string[]): string | undefined {
  return names.map((name) => event[name]).find((value): value is string => typeof value === 'string' && value !== '')
}

/** The attributes of an event as an instance sees headers. */
export function attributesOf(event: CloudEventRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(event).flatMap(([name, value]) =>
    (name === 'data' || name === 'data_base64' || typeof value === 'object' ? [] : [[name.toLowerCase(), String(value)]])))
}
