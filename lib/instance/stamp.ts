import type { CloudEventRecord } from '../events/index.ts'
import type { InstanceFacts } from './facts.ts'

/** What produced events are marked with. */
export interface Stamp {
  readonly facts: InstanceFacts
  /** Correlation attributes of the instance (S135). */
  readonly correlation: Readonly<Record<string, string>>
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Adds the attributes in the spelling of Kogito (decisions.md 29). */
  readonly kogito: boolean
}

/**
 * Adds to a produced event what tells its receivers where it comes from (http-contract.md §5, S144): process attributes and the
 * correlation of the instance. Attributes that the definition sets win.
 */
export function stampEvent(event: CloudEventRecord, { facts, correlation, now, kogito }: Stamp): CloudEventRecord {
  const attributes = processAttributes(facts)
  return {
    ...correlation,
    ...withPrefix('wf', attributes),
    ...(kogito ? withPrefix('kogito', attributes) : {}),
    time: new Date(now).toISOString(),
    ...event,
  }
}

function processAttributes(facts: InstanceFacts): Readonly<Record<string, string>> {
  const { parent } = facts
  return {
    procid: facts.workflowId,
    procinstanceid: facts.id,
    procversion: facts.version,
    proctype: 'SW',
    procist: 'Active',
    ...(facts.referenceId === undefined ? {} : { procrefid: facts.referenceId }),
    ...(facts.businessKey === undefined ? {} : { businesskey: facts.businessKey }),
    ...(parent === undefined ? {} : { parentprociid: parent.instanceId, rootprociid: parent.rootInstanceId, rootprocid: parent.rootWorkflowId }),
  }
}

function withPrefix(prefix: string, attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`${prefix}${name}`, value]))
}
