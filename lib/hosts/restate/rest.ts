import type { Json } from '../../common/index.ts'
import { checkOutput, endStep } from '../ends.ts'
import { recordOf, statusOf, subflowEndOf, type LiveInstance } from '../live-instance.ts'
import { isAtStart } from '../router.ts'
import { keyOf } from '../wait-index.ts'
import type { Head, Life } from './life.ts'
import type { Action, IndexedWait, Message, Reply } from './messages.ts'
import { digestOf, idFrom } from './names.ts'
import type { TurnSurroundings } from './surroundings.ts'
import type { Turn } from './turn.ts'

/** Milliseconds for which the answer of an instance is kept that its caller was told to wait for. */
const OWED = 60_000

/** What a turn comes to. */
export interface Rest {
  /** What is kept; absent: nothing. */
  readonly life?: Life
  readonly head?: Head
  readonly actions: readonly Action[]
  readonly reply: Reply
}

/** What is to be stored of a living instance, in the middle of a turn or at its end. */
export function lifeOf({ live, draft }: Turn, more: Partial<Life> = {}): Life {
  const { endedAt, instance, workflow } = live
  for (const [token, child] of Object.entries(draft.children)) {
    const { id, workflowId } = child
    live.subflows.set(token, { childId: id, command: { kind: 'subflow', token, workflowId, input: null, detached: false, onParentComplete: 'terminate', finish: () => ({ output: {} }) } })
  }
  const { data, ...record } = recordOf(live)
  const { running: _, interrupted: __, state: ___, ...life } = draft.life
  return {
    ...life,
    definition: workflow.loaded.source.hash,
    ...(endedAt === undefined ? { state: instance.persist(), record } : { record: { ...record, data } }),
    nextStep: draft.nextStep,
    counter: draft.counter,
    timers: draft.timers,
    calls: draft.calls,
    children: draft.children,
    awaits: draft.awaits,
    dependents: draft.dependents,
    received: draft.received,
    ...more,
  }
}

/** What lists are made from. */
export function headOf({ record, facts }: Life, visibleUntil?: number): Head {
  return {
    workflowId: facts.workflowId,
    status: record.status,
    startedAt: facts.startedAt,
    ...(facts.businessKey === undefined ? {} : { businessKey: facts.businessKey }),
    ...(record.endedAt === undefined ? {} : { endedAt: record.endedAt, visibleUntil: visibleUntil ?? record.endedAt }),
  }
}

/** Ends a turn: hands out what is left, notes what it came to, and gives what is to be stored and done. */
export function restOf(turn: Turn, message: Message, surroundings: TurnSurroundings): Rest {
  const { live, draft } = turn
  const { actions } = draft
  turn.handOutRest()
  draft.prune(live.instance.pending, turn.now - surroundings.inboxRetention)
  const isQuiet = settle(turn)
  tellParent(turn, isQuiet)
  const subscribed = subscribe(turn)
  const isNoted = note(turn, surroundings)
  const waiters = message.kind === 'listen' ? [...draft.life.waiters, message.waiter] : draft.life.waiters
  const life = lifeOf(turn, {
    subscribed,
    noted: draft.life.noted || isNoted,
    waiters: isQuiet ? [] : waiters,
    owed: turn.interrupted || isOwed(draft.life, message, isQuiet),
    ...(turn.interrupted ? { interrupted: true } : {}),
    toldQuiet: draft.life.toldQuiet || isQuiet,
  })
  const record = recordOf(live)
  if (isQuiet) for (const waiter of waiters) actions.push({ kind: 'answer', waiter, record })
  const reply: Reply = { record, quiet: isQuiet }
  if (live.endedAt === undefined) return { life, head: headOf(life), actions, reply }
  return { ...remains(life, surroundings, actions), actions, reply }
}

/** Ends an instance that is over, and tells whether nothing goes on in it by itself. */
function settle(turn: Turn): boolean {
  const { live: { instance, facts }, draft } = turn
  const { status } = instance
  if (status === 'completed' || status === 'aborted') {
    conclude(turn, false)
    return true
  }
  if (status === 'error') {
    conclude(turn, true)
    // A sub-flow that failed is over too: its parent takes the error up.
    if (facts.parent?.token !== undefined) turn.live.endedAt = turn.now
    return true
  }
  return instance.isQuiet && Object.keys(draft.calls).length === 0 && Object.values(draft.children).every(({ quiet }) => quiet)
}

function tellParent(turn: Turn, isQuiet: boolean): void {
  const { live, draft } = turn
  const { parent } = live.facts
  if (live.endedAt !== undefined) leave(turn)
  if (parent?.token === undefined) return
  const told = { kind: 'tellParent', parentId: parent.instanceId, token: parent.token } as const
  if (live.endedAt !== undefined) draft.actions.push({ ...told, end: subflowEndOf(live) })
  else if (isQuiet && !draft.life.toldQuiet) draft.actions.push(told)
}

/** Hands the steps of the turn to the history, where one is kept; tells whether it did. */
function note({ live, draft, steps }: Turn, { history, retention }: TurnSurroundings): boolean {
  const isStored = live.endedAt === undefined || retention > 0
  const isNoted = history && isStored && steps.length > 0
  if (isNoted) draft.actions.push({ kind: 'history', steps })
  return isNoted
}

/** Whether a caller was told to wait for the answer and has not fetched it. */
function isOwed(life: Omit<Life, 'record'>, message: Message, isQuiet: boolean): boolean {
  if (message.kind === 'listen') return false
  const isAsked = (message.kind === 'start' && message.atOnce !== true) || message.kind === 'operate'
  return life.owed || (isAsked && !isQuiet)
}

function conclude(turn: Turn, failed: boolean): void {
  const { live } = turn
  if (failed) {
    const { failure, data } = recordOf(live)
    turn.report({ type: 'failed', ...(failure === undefined ? {} : { nodeId: failure.failedNodeId, detail: { ...failure } }), data })
    return
  }
  checkOutput(live)
  live.endedAt = turn.now
  turn.report(endStep(recordOf(live), live.instance.continuation))
}

/** What an ended instance leaves to be done: those that end with it, and the workflow that goes on with its data (S192, S276). */
function leave({ live, draft }: Turn): void {
  const { facts, instance } = live
  for (const id of draft.dependents) draft.actions.push({ kind: 'stop', instanceId: id })
  const { continuation } = instance
  if (continuation === undefined || facts.parent?.token !== undefined || statusOf(live) !== 'completed') return
  const { workflowId, version, input, timeout } = continuation
  draft.actions.push({
    kind: 'start',
    wanted: {
      id: idFrom('continue', facts.id), workflowId, input, headers: facts.headers,
      ...(version === undefined ? {} : { version }),
      ...(timeout === undefined ? {} : { timeout }),
    },
  })
}

/** How long an ended instance is kept: as long as it can be found, its key is known, or its answer has not been fetched. */
function remains(life: Life, { retention, inboxRetention }: TurnSurroundings, actions: Action[]): Pick<Rest, 'life' | 'head'> {
  const endedAt = life.record.endedAt ?? life.facts.startedAt
  const until = endedAt + Math.max(retention, life.startedBy === undefined ? 0 : inboxRetention, life.owed ? OWED : 0)
  if (life.noted && retention === 0) actions.push({ kind: 'forgetHistory' })
  if (until === endedAt) return {}
  actions.push({ kind: 'purge', at: until })
  return { life, head: headOf(life, endedAt + retention) }
}

/** Brings the index of waits in line; gives what it knows then. */
function subscribe({ live, draft }: Turn): Life['subscribed'] {
  const byType = new Map<string, IndexedWait[]>()
  for (const wait of live.endedAt === undefined ? indexedWaits(live) : []) byType.set(wait.type, [...byType.get(wait.type) ?? [], wait])
  const subscribed: Record<string, string> = {}
  for (const [type, waits] of byType) {
    const digest = digestOf(JSON.stringify(waits))
    subscribed[type] = digest
    if (draft.life.subscribed[type] !== digest) draft.actions.push({ kind: 'subscribe', type, rev: draft.next(), waits })
  }
  for (const type of Object.keys(draft.life.subscribed)) {
    if (!byType.has(type)) draft.actions.push({ kind: 'subscribe', type, rev: draft.next(), waits: [] })
  }
  return subscribed
}

function indexedWaits(live: LiveInstance): readonly IndexedWait[] {
  const { instance, facts, workflow } = live
  const known = instance.context.correlation ?? {}
  return instance.waits.flatMap(({ token, events }) => events.map(({ definition }): IndexedWait => {
    const { name, type, source, correlation } = definition
    return {
      instanceId: facts.id,
      type,
      key: keyOf(definition, known),
      definition: { name, type, correlation: correlation as unknown as Json, ...(source === undefined ? {} : { source }) },
      known,
      byTypeOnly: workflow.program.profile === 'sonataflow',
      workflowId: facts.workflowId,
      ...(facts.businessKey === undefined ? {} : { businessKey: facts.businessKey }),
      atStart: isAtStart(live, token),
    }
  }))
}
