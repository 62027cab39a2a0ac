import { HostError } from '../../errors/index.ts'
import type { CloudEventRecord, CorrelationValues } from '../../events/index.ts'
import type { InstanceFacts } from '../../instance/index.ts'
import type { DeployedWorkflow } from '../deployments.ts'
import { EventStarts, type EventStart, type Gathered } from '../event-starts.ts'
import type { Delivery } from '../host.ts'
import { attributesOf, textOf } from '../router.ts'
import { keysOf } from '../wait-index.ts'
import { callTo } from './carry-out.ts'
import type { IndexedWait, Reply, StartMessage } from './messages.ts'
import { idFrom } from './names.ts'
import type { Bound, Context, ObjectContext } from './sdk.ts'
import { choose } from './waits.ts'
import type { WorkerParts } from './worker-parts.ts'

/** An event on its way. */
interface IncomingEvent {
  readonly event: CloudEventRecord
  readonly at: number
}

/** Routes events that come in; what it began to hand over is handed over, whatever becomes of the worker. */
export function createRouterService(parts: WorkerParts): Bound {
  const { sdk, names } = parts
  return sdk.service({ name: names.router, handlers: { deliver: (ctx: Context, incoming: IncomingEvent) => route(ctx, parts, incoming) } })
}

/** Sends what instances produced, in the order of each: at least once, always with the same id. */
export function createOutboxObject(parts: WorkerParts): Bound {
  const { sdk, names, options, keep } = parts
  return sdk.object({
    name: names.outbox,
    handlers: {
      async send(ctx: ObjectContext, event: CloudEventRecord): Promise<null> {
        if (options.loopback) await callTo<Delivery>(ctx, parts, { service: names.router, handler: 'deliver' }, { event, at: Date.parse(event.time ?? '') || 0 })
        await ctx.run('sink', async () => {
          // Thrown on purpose: the engine tries again, with pauses between.
          if (!await keep.forward(event)) throw undelivered(event)
        })
        return null
      },
    },
  })
}

/** Gathers the events of definitions that several events begin (S030–S033), one object for each definition. */
export function createGatheringObject(parts: WorkerParts): Bound {
  const { sdk, names } = parts
  return sdk.object({ name: names.gathering, handlers: { take: (ctx: ObjectContext, incoming: IncomingEvent) => gather(ctx, parts, incoming) } })
}

function undelivered({ id, type }: CloudEventRecord): HostError {
  return new HostError({ code: 'STORE_UNAVAILABLE', message: `Event ${id} of type ${type} could not be sent; the engine tries again` })
}

async function route(ctx: Context, parts: WorkerParts, { event, at }: IncomingEvent): Promise<Delivery> {
  const { names, options: { log } } = parts
  const waits = await callTo<readonly IndexedWait[]>(ctx, parts, { service: names.waits, key: event.type, handler: 'find' }, keysOf(event))
  const { instances, atStart, mayStart } = choose(waits, event)
  const replies = await Promise.all(instances.map(({ id, correlated }) =>
    callTo<Reply>(ctx, parts, { service: names.instance, key: id, handler: 'event' }, { kind: 'event', at, event, correlated })))
  const taken = instances.filter((_, index) => replies[index]?.taken === true).map(({ id }) => id)
  if (mayStart(taken.length)) taken.push(...await startBy(ctx, parts, { event, at }, atStart))
  if (taken.length === 0) log.debug({ event: event.id, type: event.type }, 'event ignored: nothing waits for it')
  return { instances: taken }
}

/** What an event begins: instances at once, and definitions that gather it. */
interface Starts {
  readonly begun: readonly { readonly id: string; readonly message: StartMessage }[]
  readonly gathering: readonly string[]
}

async function startBy(ctx: Context, parts: WorkerParts, incoming: IncomingEvent, atStart: readonly string[]): Promise<readonly string[]> {
  const { names, options: { deployments } } = parts
  // What is in service may be another when this is taken again: it is decided once.
  const { begun, gathering } = await ctx.run('starts', async (): Promise<Starts> => {
    const gathers: string[] = []
    const starts = new EventStarts(stillClock(incoming.at), { next: () => '', random: () => 0 })
    starts.keepWith({ gathered: ({ program }) => { gathers.push(program.definition.id) }, given: () => undefined })
    const others = deployments.list().filter(({ program }) => !atStart.includes(program.definition.id))
    const found = starts.take(others, incoming.event, () => true)
    return { gathering: gathers, begun: await Promise.all(found.map((start) => toStart(parts, start, incoming, idOfStart(start.workflow, incoming.event)))) }
  })
  const gathered = await Promise.all(gathering.map((key) => callTo<readonly string[]>(ctx, parts, { service: names.gathering, key, handler: 'take' }, incoming)))
  return [...await begin(ctx, parts, begun), ...gathered.flat()]
}

async function begin(ctx: Context, parts: WorkerParts, begun: Starts['begun']): Promise<readonly string[]> {
  const replies = await Promise.all(begun.map(({ id, message }) => callTo<Reply>(ctx, parts, { service: parts.names.instance, key: id, handler: 'start' }, message)))
  return begun.filter((_, index) => replies[index]?.taken === true).map(({ id }) => id)
}

/** The same event begins the same instance: it cannot begin it twice. */
function idOfStart({ program }: DeployedWorkflow, { source, id }: CloudEventRecord): string {
  return idFrom('event', program.definition.id, source, id)
}

async function toStart(parts: WorkerParts, { workflow, events, correlation }: EventStart, { event, at }: IncomingEvent, id: string): Promise<Starts['begun'][number]> {
  await parts.workflows.hold(workflow)
  const { definition } = workflow.program
  const businessKey = textOf(event, 'wfbusinesskey', 'kogitobusinesskey')
  const referenceId = textOf(event, 'wfprocinstanceid', 'kogitoprocinstanceid')
  const startFrom = textOf(event, 'wfprocstartfrom', 'kogitoprocstartfrom')
  const facts: InstanceFacts = {
    id,
    workflowId: definition.id,
    version: definition.version,
    input: {},
    headers: attributesOf(event),
    startedAt: at,
    ...(businessKey === undefined ? {} : { businessKey }),
    ...(referenceId === undefined ? {} : { referenceId }),
  }
  const message: StartMessage = {
    kind: 'start', at, settled: { facts, definition: workflow.loaded.source.hash }, events, correlation, startedBy: `${event.source}|${event.id}`, atOnce: true,
    ...(startFrom === undefined ? {} : { startFrom }),
  }
  return { id, message }
}

interface StoredGatherings {
  readonly open: readonly { readonly id: string; readonly events: readonly (readonly [string, CloudEventRecord])[]; readonly correlation: CorrelationValues; readonly since: number; readonly until?: number }[]
  /** Events that came, and when. */
  readonly received: Readonly<Record<string, number>>
}

async function gather(ctx: ObjectContext, parts: WorkerParts, incoming: IncomingEvent): Promise<readonly string[]> {
  const { event, at } = incoming
  const stored = await ctx.get<StoredGatherings>('gatherings') ?? { open: [], received: {} }
  const key = `${event.source}|${event.id}`
  if (key in stored.received) return []
  const decided = await ctx.run('gather', () => decide(parts, ctx.key, stored, incoming))
  const received = Object.fromEntries(Object.entries(stored.received).filter(([, came]) => came >= at - parts.keep.inboxRetention))
  ctx.set<StoredGatherings>('gatherings', { open: decided.open, received: { ...received, [key]: at } })
  return begin(ctx, parts, decided.begun)
}

async function decide(parts: WorkerParts, workflowId: string, stored: StoredGatherings, incoming: IncomingEvent): Promise<Pick<StoredGatherings, 'open'> & Pick<Starts, 'begun'>> {
  const { event, at } = incoming
  const workflow = parts.workflows.inService(workflowId)
  const open = new Map<string, Gathered>()
  const untils = new Map<string, number>()
  let until: number | undefined
  const clock = { now: () => at, at: (instant: number) => { until = instant; return () => undefined } }
  const starts = new EventStarts(clock, { next: () => idFrom('gathering', workflowId, event.source, event.id), random: () => 0 })
  for (const gathering of stored.open) {
    // Its time was up before this event came.
    if (gathering.until !== undefined && gathering.until <= at) continue
    starts.restore(workflow, { ...gathering, events: new Map(gathering.events) })
    open.set(gathering.id, { ...gathering, events: new Map(gathering.events) })
    if (gathering.until !== undefined) untils.set(gathering.id, gathering.until)
  }
  until = undefined
  let completed = ''
  starts.keepWith({
    gathered(_workflow, gathered) {
      open.set(gathered.id, { ...gathered, events: new Map(gathered.events) })
      if (until !== undefined && !untils.has(gathered.id)) untils.set(gathered.id, until)
    },
    given(_workflow, id) {
      open.delete(id)
      completed = id
    },
  })
  const [start] = starts.take([workflow], event, () => true)
  const begun = start === undefined ? [] : [await toStart(parts, start, incoming, idFrom('gathered', completed))]
  return {
    begun,
    open: [...open.values()].map(({ id, events, correlation, since }) => ({ id, events: [...events], correlation, since, ...(untils.has(id) ? { until: untils.get(id) ?? at } : {}) })),
  }
}

function stillClock(at: number): { now: () => number; at: () => () => void } {
  return { now: () => at, at: () => () => undefined }
}
