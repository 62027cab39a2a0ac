import { HostError } from '../../errors/index.ts'
import type { InstanceFacts, PersistedInstance } from '../../instance/index.ts'
import type { InstanceRecord, InstanceStatus } from '../host.ts'
import type { StoredInstance, StoredSleeper } from '../journal.ts'
import type { Row } from './statements.ts'

/** Form of the state that this release writes; a reader refuses what it does not know. */
const STATE_FORM = 1

/** Columns of the table `instance`, in the order of {@link valuesOf}. */
export const INSTANCE_COLUMNS = [
  'id', 'workflow_id', 'definition', 'status', 'business_key', 'parent_id', 'parent_token', 'dependent', 'busy', 'undelivered',
  'started_at', 'ended_at', 'place', 'next_step', 'facts', 'state', 'record', 'continuation',
] as const

/** The values of a row. */
export function valuesOf(instance: StoredInstance): readonly (string | number | null)[] {
  const { facts, record } = instance
  return [
    facts.id, facts.workflowId, instance.definition, instance.status, facts.businessKey ?? null, facts.parent?.instanceId ?? null,
    facts.parent?.token ?? null, Number(instance.dependent), Number(instance.busy), Number(instance.undelivered), facts.startedAt,
    record.endedAt ?? null, instance.place ?? null, instance.nextStep, JSON.stringify(facts),
    stateText(instance), recordText(instance),
    instance.continuation === undefined ? null : JSON.stringify(instance.continuation),
  ]
}

function stateText({ state, steps }: StoredInstance): string | null {
  return state === undefined ? null : JSON.stringify({ form: STATE_FORM, steps, ...state })
}

// The data of what lives stands in its state.
function recordText({ state, record }: StoredInstance): string {
  return JSON.stringify(state === undefined ? record : { ...record, data: undefined })
}

/** Columns that change while an instance lives, in the order of {@link changesOf}. */
export const CHANGING_COLUMNS = ['status', 'busy', 'undelivered', 'ended_at', 'next_step', 'state', 'record', 'continuation'] as const

/** The values that change. */
export function changesOf(instance: StoredInstance): readonly (string | number | null)[] {
  const { record } = instance
  return [
    instance.status, Number(instance.busy), Number(instance.undelivered), record.endedAt ?? null, instance.nextStep,
    stateText(instance), recordText(instance), instance.continuation === undefined ? null : JSON.stringify(instance.continuation),
  ]
}

/** Columns that bring an instance back. */
export const SLEEPER_COLUMNS = 'id, workflow_id, definition, place, next_step, facts, state'

/** What brings an instance back. @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` */
export function sleeperOf(row: Row): StoredSleeper {
  const state = stateOf(row)
  const place = row['place']
  return {
    facts: jsonOf(row, 'facts') as InstanceFacts,
    definition: String(row['definition']),
    nextStep: Number(row['next_step']),
    ...(state === undefined ? {} : state),
    ...(typeof place === 'string' ? { place } : {}),
  }
}

/** The instance of a row. @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` when a newer release wrote it */
export function instanceOf(row: Row): StoredInstance {
  const state = stateOf(row)
  const place = row['place']
  const continuation = row['continuation']
  return {
    facts: jsonOf(row, 'facts') as InstanceFacts,
    definition: String(row['definition']),
    status: String(row['status']) as InstanceStatus,
    ...(state === undefined ? {} : state),
    record: recordOf(row, state),
    busy: row['busy'] === 1,
    undelivered: row['undelivered'] === 1,
    dependent: row['dependent'] === 1,
    ...(typeof continuation === 'string' ? { continuation: JSON.parse(continuation) as NonNullable<StoredInstance['continuation']> } : {}),
    nextStep: Number(row['next_step']),
    ...(typeof place === 'string' ? { place } : {}),
  }
}

/** The record of a row; the data of what lives stands in its state. @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` */
function recordOf(row: Row, state = stateOf(row)): InstanceRecord {
  const record = jsonOf(row, 'record') as InstanceRecord
  if (state === undefined) return record
  const { context } = state.state.snapshot as unknown as { readonly context: { readonly data: InstanceRecord['data'] } }
  return { ...record, data: context.data }
}

/** The record of a row for a list, where one that cannot be read must not hide the others: its data is null then. */
export function listedRecordOf(row: Row, read: (row: Row) => InstanceRecord = recordOf): InstanceRecord {
  try {
    return read(row)
  } catch {
    // The row is told by name to whoever asks for this instance.
    const text = (column: string): string => String(row[column])
    return { id: text('id'), workflowId: text('workflow_id'), version: '', status: text('status') as InstanceStatus, data: null, startedAt: Number(row['started_at']) }
  }
}

function stateOf(row: Row): Pick<StoredInstance, 'steps'> & { readonly state: PersistedInstance } | undefined {
  if (typeof row['state'] !== 'string') return undefined
  const { form, steps, ...state } = jsonOf(row, 'state') as PersistedInstance & Pick<StoredInstance, 'steps'> & { readonly form: number }
  if (form > STATE_FORM) throw unreadableInstance(row, `has a state of form ${String(form)}; this release knows ${String(STATE_FORM)}. Finish it with the release that wrote it`)
  return { state, ...(steps === undefined ? {} : { steps }) }
}

/** The value of a column that holds JSON. @throws {@link HostError} `SNAPSHOT_INCOMPATIBLE` */
export function jsonOf(row: Row, column: string): unknown {
  try {
    return JSON.parse(String(row[column]))
  } catch (cause) {
    throw unreadableInstance(row, `is damaged in the store: its ${column} is no JSON. See "sonatina store verify"`, cause)
  }
}

/** Tells that an instance is there and cannot be read. */
export function unreadableInstance(row: Row, why: string, cause?: unknown): HostError {
  return new HostError({ code: 'SNAPSHOT_INCOMPATIBLE', message: `Instance ${String(row['id'])} of "${String(row['workflow_id'])}" ${why}`, cause })
}
