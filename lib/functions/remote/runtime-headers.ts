import type { CallContext } from '../invoker.ts'

/** Which runtime headers are sent. */
export interface RuntimeHeaderOptions {
  /** `sonatina.headers.kogito`: the `kogito*` spelling too. */
  readonly kogito: boolean
}

const VISIBLE = /^[\u0021-\u007e]*$/

/**
 * Adds the headers that tell a remote service which instance calls (openapi-functions.md §4): id, version and status of the process,
 * and with `kogito` its relatives; `traceparent` when there are traces.
 *
 * Mutates `headers`; names in lower case.
 */
export function addRuntimeHeaders(headers: Record<string, string>, context: CallContext, { kogito }: RuntimeHeaderOptions): void {
  const id = visible(context.workflowId)
  const version = visible(context.workflowVersion)
  headers['wfprocid'] = id
  headers['wfprocinstanceid'] = context.instanceId
  headers['wfprocist'] = 'Active'
  headers['wfproctype'] = 'SW'
  headers['wfprocversion'] = version
  if (context.traceHeaders !== undefined) Object.assign(headers, context.traceHeaders)
  if (!kogito) return
  headers['kogitoprocid'] = id
  headers['kogitoprocinstanceid'] = context.instanceId
  headers['kogitoprocist'] = 'Active'
  headers['kogitoproctype'] = 'SW'
  headers['kogitoprocversion'] = version
  const relatives = {
    kogitoparentprociid: context.parentInstanceId,
    kogitoparentprocid: context.parentWorkflowId,
    kogitorootprociid: context.rootInstanceId,
    kogitorootprocid: context.rootWorkflowId,
    kogitoprocrefid: context.referenceId,
    kogitobusinesskey: context.businessKey,
  }
  for (const [name, value] of Object.entries(relatives)) if (value !== undefined) headers[name] = visible(value)
}

function visible(value: string): string {
  return VISIBLE.test(value) ? value : encodeURIComponent(value)
}
