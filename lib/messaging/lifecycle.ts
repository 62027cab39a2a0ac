import { isJsonObject, jsonEquals, type Clock, type IdSource, type Json } from '../common/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { HistoryStep, InstanceRecord } from '../hosts/index.ts'

/** What lifecycle events need. */
export interface LifecycleOptions {
  readonly clock: Clock
  readonly ids: IdSource
  readonly send: (event: CloudEventRecord) => void
}

/** Who an instance belongs to, for its events. */
interface LifecycleSubject {
  readonly id: string
  readonly workflowId: string
  readonly version: string
  readonly identity?: string | undefined
}

/** Tells observers outside what becomes of instances, in the form that SonataFlow's data index reads. */
export interface Lifecycle {
  /** A step was taken: state and node events. */
  step(step: HistoryStep, subject: LifecycleSubject): void
  /** An instance rests: an event for each variable that has changed since it last did. */
  data(record: InstanceRecord, subject: LifecycleSubject): void
}

/** Status numbers of Kogito's process instances. */
const STATES: Readonly<Record<string, number>> = { started: 1, completed: 2, aborted: 3, failed: 5 }
const EVENT_TYPES: Readonly<Record<string, number>> = { started: 1, completed: 2, aborted: 2, failed: 3 }

/**
 * Creates the publisher of `ProcessInstanceStateDataEvent`, `ProcessInstanceNodeDataEvent` and `ProcessInstanceVariableDataEvent`.
 *
 * Variables are the workflow data as a whole, `workflowdata`, and each of its members, `workflowdata.<name>`.
 */
export function createLifecycle({ clock, ids, send }: LifecycleOptions): Lifecycle {
  const known = new Map<string, Json>()
  const publish = (type: string, subject: LifecycleSubject, data: Json): void => {
    const { id, workflowId, version, identity } = subject
    send({
      specversion: '1.0',
      id: ids.next(),
      source: `/${workflowId}`,
      type,
      time: new Date(clock.now()).toISOString(),
      datacontenttype: 'application/json',
      kogitoprocid: workflowId,
      kogitoprocinstanceid: id,
      kogitoprocversion: version,
      kogitoproctype: 'SW',
      ...(identity === undefined ? {} : { kogitoidentity: identity }),
      data,
    })
  }
  const variable = (subject: LifecycleSubject, name: string, value: Json): void => {
    publish('ProcessInstanceVariableDataEvent', subject, { ...common(subject), variableId: name, variableName: name, variableValue: value })
  }
  return {
    step(step, subject) {
      const state = STATES[step.type]
      const eventDate = new Date(step.at).toISOString()
      if (state !== undefined) {
        publish('ProcessInstanceStateDataEvent', subject, { ...common(subject), eventDate, eventType: EVENT_TYPES[step.type] ?? 1, state, processType: 'SW' })
      } else if (step.type === 'stateEntered') {
        publish('ProcessInstanceNodeDataEvent', subject, { ...common(subject), eventDate, eventType: 1, nodeName: step.state ?? '', nodeType: 'State' })
      }
    },
    data(record, subject) {
      const before = known.get(record.id)
      if (record.endedAt === undefined) known.set(record.id, record.data)
      else known.delete(record.id)
      if (before !== undefined && jsonEquals(before, record.data)) return
      variable(subject, 'workflowdata', record.data)
      if (!isJsonObject(record.data)) return
      for (const [name, value] of Object.entries(record.data)) {
        const old = isJsonObject(before) && Object.hasOwn(before, name) ? before[name] : undefined
        if (old === undefined || !jsonEquals(old, value)) variable(subject, `workflowdata.${name}`, value)
      }
    },
  }
}

function common({ id, workflowId, version }: LifecycleSubject): Record<string, Json> {
  return { processId: workflowId, processInstanceId: id, processVersion: version }
}
