import type { CloudEventRecord } from '../events/index.ts'
import type { InstanceFacts } from './facts.ts'

/**
 * Adds to a produced event what tells its receivers where it comes from (http-contract.md §5, S144): process attributes and the
 * correlation of the instance. Attributes that the definition sets win.
 */
export function stampEvent(event: CloudEventRecord, facts: InstanceFacts, correlation: Readonly<Record<string, string>>, now: number): CloudEventRecord {
  const { parent } = facts
  return {
    ...correlation,
    wfprocid: facts.workflowId,
    wfprocinstanceid: facts.id,
    wfprocversion: facts.version,
    wfproctype: 'SW',
    wfprocist: 'Active',
    ...(facts.referenceId === undefined ? {} : { wfprocrefid: facts.referenceId }),
    ...(facts.businessKey === undefined ? {} : { wfbusinesskey: facts.businessKey }),
    ...(parent === undefined ? {} : {
      wfparentprociid: parent.instanceId,
      wfrootprociid: parent.rootInstanceId,
      wfrootprocid: parent.rootWorkflowId,
    }),
    time: new Date(now).toISOString(),
    ...event,
  }
}
