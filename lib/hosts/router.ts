import type { CloudEventRecord } from '../events/index.ts'
import type { DeployedWorkflow } from './deployments.ts'
import type { EventStart, EventStarts } from './event-starts.ts'
import type { Delivery, StartRequest } from './host.ts'
import type { LiveInstance } from './live-instance.ts'
import type { Parts, Router } from './parts.ts'

/** Creates what routes events (http-contract.md §5): to instances that wait, to those named, to definitions that begin with them. */
export function createRouter(parts: Parts, starts: EventStarts): Router {
  const { options, queue, waits } = parts

  const isNew = (event: CloudEventRecord, workflow: DeployedWorkflow): boolean => parts.durables?.isNewStart(event, workflow) ?? true

  function deliver(event: CloudEventRecord): Delivery {
    const reference = textOf(event, 'wfprocrefid', 'kogitoprocrefid')
    const businessKey = textOf(event, 'wfbusinesskey', 'kogitobusinesskey')
    parts.durables?.awaken(event)
    const matches = waits.find(event)
    const correlated = matches.filter(({ correlation }) => Object.keys(correlation).length > 0)
    const chosen = correlated.length > 0 ? correlated : matches.filter(({ live }) =>
      (reference === undefined || live.facts.id === reference) && (businessKey === undefined || live.facts.businessKey === businessKey))
    const instances: string[] = []
    const atStart = chosen.filter(({ live, token }) => isAtStart(live, token)).map(({ live }) => live.workflow)
    const known = new Set([...new Set(chosen.map(({ live }) => live))].filter((live) => live.durable !== undefined && parts.durables?.isNew(event, live) === false))
    for (const { live, token, entry, correlation } of chosen) {
      if (known.has(live)) continue
      parts.turns.turn(live, () => {
        if (live.instance.receive(token, entry, event, correlation)) instances.push(live.facts.id)
      })
    }
    if (correlated.length === 0 && reference === undefined && (businessKey === undefined || instances.length === 0)) {
      // An instance that waits where its definition begins takes the event itself; it does not begin another.
      const others = options.deployments.list().filter((workflow) => !atStart.includes(workflow))
      for (const begun of starts.take(others, event, isNew)) instances.push(beginBy(begun, event, businessKey))
    }
    if (instances.length === 0) options.log.info({ event: event.id, type: event.type }, 'event ignored: nothing waits for it')
    return { instances }
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
