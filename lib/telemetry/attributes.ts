import type { Attributes } from '@opentelemetry/api'
import type { Json } from '../common/index.ts'
import type { TracedInstance } from './trace.ts'

/** States of an instance, in the words of SonataFlow. */
export type TracedState = 'ACTIVE' | 'COMPLETED' | 'ABORTED' | 'ERROR'

/** Name of the attribute that holds the state of an instance. */
export const INSTANCE_STATE = 'sonataflow.process.instance.state'

const TRACKER = 'x-tracker-'

/** Gives the attributes that all spans of an instance carry, under the names of SonataFlow. */
export function instanceAttributes(instance: TracedInstance): Attributes {
  const attributes: Attributes = {
    'sonataflow.process.instance.id': instance.id,
    'sonataflow.process.id': instance.workflowId,
    'sonataflow.process.version': instance.version,
    [INSTANCE_STATE]: 'ACTIVE' satisfies TracedState,
    'sonataflow.transaction.id': transactionId(instance),
  }
  for (const [name, value] of Object.entries(instance.headers)) {
    if (name.startsWith(TRACKER) && name.length > TRACKER.length) attributes[`sonataflow.tracker.${name.slice(TRACKER.length)}`] = value
  }
  return attributes
}

/** Gives what the caller named with `X-TRANSACTION-ID`, else the id of the outermost instance. */
export function transactionId({ headers, parent, id }: TracedInstance): string {
  return headers['x-transaction-id'] ?? parent?.rootInstanceId ?? id
}

/** Tells what started an instance. */
export function triggerOf({ headers, parent }: TracedInstance): 'subflow' | 'event' | 'http' | 'internal' {
  if (parent !== undefined) return 'subflow'
  if (headers['specversion'] !== undefined || headers['ce-specversion'] !== undefined) return 'event'
  return headers['x-request-id'] === undefined ? 'internal' : 'http'
}

/** What spans tell of a failure. */
export type ErrorAttributes = Attributes & { readonly 'error.message': string }

/** Words a failure as `error.type` and `error.message`; both may be missing in what a host function threw. */
export function errorAttributes(detail: Readonly<Record<string, Json>> | undefined): ErrorAttributes {
  const { code, name, message } = detail ?? {}
  return {
    'error.type': text(code) ?? text(name) ?? 'unknown',
    'error.message': text(message) ?? 'Unknown error',
  }
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
