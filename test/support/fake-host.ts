import type { Clock, IdSource, Json, JsonObject } from '../../lib/common/index.ts'
import type { Catalogue, Definition, LoadedDefinition, LoadFailure, State } from '../../lib/definition/index.ts'
import { DataInputError, DefinitionError, HostError, InstanceError } from '../../lib/errors/index.ts'
import type { CloudEventRecord } from '../../lib/events/index.ts'
import type { HistoryStep, Host, InstanceFailure, InstanceQuery, InstanceRecord, StartRequest } from '../../lib/hosts/index.ts'

/** What a fake instance does when it is started; the default completes with its input. */
export type Behaviour = (request: StartRequest, record: InstanceRecord) => InstanceRecord | Promise<InstanceRecord>

/** A host whose instances are plain records, for tests of what stands in front of hosts. */
export interface FakeHost extends Host {
  readonly starts: StartRequest[]
  readonly events: CloudEventRecord[]
  readonly instances: Map<string, InstanceRecord>
  readonly steps: Map<string, HistoryStep[]>
  /** Behaviour by workflow id. */
  readonly behaviours: Map<string, Behaviour>
  /** Every method rejects with this error, when set. */
  failure: Error | undefined
  ready: { ready: boolean; reason?: string }
  /** Times at which timers were moved to, by node instance. */
  readonly moved: Map<string, number>
}

/** Creates a host of plain records. */
export function createFakeHost({ clock, ids }: { clock: Clock; ids: IdSource }): FakeHost {
  const keys = new Map<string, { id: string; body: string }>()
  const live = (record: InstanceRecord | undefined): boolean => record !== undefined && record.status !== 'completed' && record.status !== 'aborted'
  const notFound = (id: string): InstanceError => new InstanceError({ code: 'INSTANCE_NOT_FOUND', message: `no live instance ${id}`, details: { instanceId: id } })
  const take = (workflowId: string, id: string): InstanceRecord => {
    const record = host.instances.get(id)
    if (record === undefined || record.workflowId !== workflowId || !live(record)) throw notFound(id)
    return record
  }
  const put = (record: InstanceRecord): InstanceRecord => { host.instances.set(record.id, record); return record }
  const guarded = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (host.failure !== undefined) throw host.failure
    return work()
  }
  const complete = (record: InstanceRecord, data: Json = record.data): InstanceRecord => {
    const { failure: _failure, waitingFor: _waitingFor, ...rest } = record
    return put({ ...rest, status: 'completed', data, endedAt: clock.now() })
  }
  const host: FakeHost = {
    starts: [],
    events: [],
    instances: new Map(),
    steps: new Map(),
    behaviours: new Map(),
    failure: undefined,
    ready: { ready: true },
    moved: new Map(),
    start: (request) => guarded(async () => {
      host.starts.push(request)
      const body = JSON.stringify(request.input)
      const key = request.idempotencyKey === undefined ? undefined : `${request.workflowId} ${request.idempotencyKey}`
      const known = key === undefined ? undefined : keys.get(key)
      const first = known === undefined ? undefined : host.instances.get(known.id)
      if (known !== undefined && first !== undefined) {
        if (known.body !== body) throw new InstanceError({ code: 'INSTANCE_CONFLICT', message: 'the key was used with another body', details: { instanceId: known.id } })
        return first
      }
      const record: InstanceRecord = {
        id: ids.next(), workflowId: request.workflowId, version: request.version ?? '1.0', status: 'completed', data: request.input, startedAt: clock.now(),
        ...(request.businessKey === undefined ? {} : { businessKey: request.businessKey }),
      }
      if (key !== undefined) keys.set(key, { id: record.id, body })
      put({ ...record, status: 'active' })
      return put(await (host.behaviours.get(request.workflowId) ?? ((_request, made) => ({ ...made, endedAt: clock.now() })))(request, record))
    }),
    get: (workflowId, id) => guarded(() => {
      const record = host.instances.get(id)
      return record?.workflowId === workflowId && live(record) ? record : undefined
    }),
    find: (workflowId, id) => guarded(() => {
      const record = host.instances.get(id)
      return record?.workflowId === workflowId ? record : undefined
    }),
    list: (query) => guarded(() => page([...host.instances.values()], query)),
    replaceData: (workflowId, id, data) => guarded(() => put({ ...take(workflowId, id), data })),
    mergeData: (workflowId, id, data) => guarded(() => {
      const record = take(workflowId, id)
      return put({ ...record, data: merge(record.data, data) })
    }),
    abort: (workflowId, id) => guarded(() => {
      const { failure: _failure, ...rest } = take(workflowId, id)
      return put({ ...rest, status: 'aborted', endedAt: clock.now() })
    }),
    retrigger: (workflowId, id) => guarded(() => complete(take(workflowId, id))),
    skip: (workflowId, id) => guarded(() => complete(take(workflowId, id), { skipped: true })),
    trigger: (workflowId, id, nodeId) => guarded(() => put({ ...take(workflowId, id), data: { triggered: nodeId } })),
    retriggerNode: (workflowId, id) => guarded(() => take(workflowId, id)),
    cancelNode: (workflowId, id) => guarded(() => complete(take(workflowId, id))),
    reschedule: (workflowId, id, nodeInstanceId, dueAt) => guarded(() => {
      host.moved.set(nodeInstanceId, dueAt)
      return take(workflowId, id)
    }),
    history: (_workflowId, id) => guarded(() => host.steps.get(id) ?? []),
    deliver: (event) => guarded(() => {
      host.events.push(event)
      return { instances: [...host.instances.values()].filter((record) => record.waitingFor?.some((wait) => wait.names?.includes(event.type))).map(({ id }) => id) }
    }),
    readiness: () => guarded(() => host.ready),
    close: () => { host.failure = new HostError({ code: 'HOST_CLOSED', message: 'the host is closed' }); return Promise.resolve() },
  }
  return host
}

function page(all: readonly InstanceRecord[], query: InstanceQuery): { instances: InstanceRecord[]; cursor?: string } {
  const found = all.toReversed().filter((record) =>
    (query.workflowId === undefined || record.workflowId === query.workflowId) &&
    (query.status === undefined || query.status.includes(record.status)) &&
    (query.businessKey === undefined || record.businessKey === query.businessKey) &&
    (query.startedAfter === undefined || record.startedAt > query.startedAfter) &&
    (query.startedBefore === undefined || record.startedAt < query.startedBefore))
  const from = Number(query.cursor ?? 0)
  const instances = found.slice(from, from + query.limit)
  return { instances, ...(from + query.limit < found.length ? { cursor: String(from + query.limit) } : {}) }
}

function merge(target: Json, patch: JsonObject): Json {
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return patch
  const result: Record<string, Json> = { ...(target as JsonObject) }
  for (const [key, value] of Object.entries(patch)) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    Object.defineProperty(result, key, { value: isObject && Object.hasOwn(result, key) ? merge(result[key] as Json, value as JsonObject) : value, enumerable: true, configurable: true, writable: true })
  }
  return result
}

/** Behaviours that tests ask for. */
export const behaviours = {
  /** Waits for an event of a type. */
  waits: (type: string, nodeInstanceId = 'wait-1'): Behaviour => (_request, record) => ({
    ...record, status: 'waiting', waitingFor: [{ kind: 'event', nodeId: 'Wait', nodeInstanceId, names: [type], since: record.startedAt }],
  }),
  /** Waits for a timer. */
  sleeps: (dueAt: number, nodeInstanceId = 'timer-1'): Behaviour => (_request, record) => ({
    ...record, status: 'waiting', waitingFor: [{ kind: 'timer', nodeId: 'Sleep', nodeInstanceId, dueAt, since: record.startedAt }],
  }),
  /** Fails without a handler. */
  fails: (failure: Partial<InstanceFailure>): Behaviour => (_request, record) => ({
    ...record, status: 'error', failure: { failedNodeId: 'Compute', name: 'Error', code: 'FUNCTION_FAILED', message: 'it failed', ...failure },
  }),
  /** Refuses its input. */
  refusesInput: (message: string): Behaviour => () => { throw new DataInputError({ code: 'DATA_INPUT_INVALID', message }) },
  /** Throws something. */
  throws: (error: unknown): Behaviour => () => { throw error },
  /** Answers with data. */
  answers: (data: Json): Behaviour => (_request, record) => ({ ...record, data }),
}

/** A catalogue that tests fill. */
export interface FakeCatalogue extends Catalogue {
  add(definition: LoadedDefinition): void
  remove(id: string): void
  fail(failure: LoadFailure): void
}

/** Creates a catalogue of made-up definitions. */
export function createFakeCatalogue(definitions: readonly LoadedDefinition[] = []): FakeCatalogue {
  const byId = new Map(definitions.map((loaded) => [loaded.definition.id, loaded]))
  const failures: LoadFailure[] = []
  const listeners = new Set<() => void>()
  const changed = (): void => { for (const listener of listeners) listener() }
  return {
    list: () => [...byId.values()],
    find: (id) => byId.get(id),
    failures,
    onChange: (listener) => { listeners.add(listener); return () => { listeners.delete(listener) } },
    add: (loaded) => { byId.set(loaded.definition.id, loaded); changed() },
    remove: (id) => { byId.delete(id); changed() },
    fail: (failure) => { failures.push(failure); changed() },
  }
}

/** Makes a failure as loading a broken file gives it. */
export function brokenFile(uri: string): LoadFailure {
  return { uri, error: new DefinitionError({ code: 'DEFINITION_INVALID', message: 'it has no states' }) }
}

/** Makes a normalised definition of one inject state; anything can be replaced. */
export function fakeDefinition(id: string, more: Partial<Definition> = {}, source: Partial<LoadedDefinition['source']> = {}): LoadedDefinition {
  const state: State = {
    name: 'Compute', type: 'inject', data: {}, stateDataFilter: {}, onErrors: [], timeouts: {}, usedForCompensation: false, metadata: {},
    end: { terminate: false, compensate: false, produceEvents: [] },
  }
  return {
    definition: {
      id, version: '1.0', annotations: [], specVersion: '0.8', expressionLang: 'jq', profile: 'spec', start: { stateName: more.states?.[0]?.name ?? 'Compute' },
      constants: {}, secrets: [], keepActive: false, autoRetries: false, functions: [], events: [], errors: [], retries: [], auth: [], timeouts: {},
      states: [state], extensions: [], metadata: {}, ...more,
    },
    source: { uri: `/project/flows/${id}.sw.json`, format: 'json', text: JSON.stringify({ id }), hash: '0', resources: {}, ...source },
    warnings: [],
  }
}

/** Makes a definition that begins with an event state and consumes one type. */
export function eventDefinition(id: string, type: string, more: Partial<Definition> = {}): LoadedDefinition {
  return fakeDefinition(id, {
    events: [{ name: 'Begin', type, kind: 'consumed', dataOnly: true, correlation: [], metadata: {} }],
    states: [{
      name: 'Receive', type: 'event', exclusive: true, stateDataFilter: {}, onErrors: [], timeouts: {}, usedForCompensation: false, metadata: {},
      onEvents: [{ eventRefs: ['Begin'], actionMode: 'sequential', actions: [], eventDataFilter: { useData: true } }],
      end: { terminate: false, compensate: false, produceEvents: [] },
    }],
    ...more,
  })
}
