import fs from 'node:fs'
import { createRequire } from 'node:module'
import type { Host, WaitRecord } from '../../lib/hosts/index.ts'
import type { Runtime } from '../../lib/runtime-options.ts'
import { until } from '../unit/hosts/durable-definitions.ts'
import type { DurableProject } from './durable-runtime.ts'

type Answer = (error: NodeJS.ErrnoException | null) => void
type Row = Readonly<Record<string, string | number | null>>

interface Connection {
  prepare(sql: string): { all(): readonly Row[] }
  close(): void
}
const Database = createRequire(import.meta.url)('libsql') as new (path: string) => Connection

/** Tables that hold something of an instance only while it lives. */
const TABLES = ['instance', 'passing', 'timer', 'wait', 'outbox', 'effect', 'history', 'gathering']

/** What a disk says that fails. */
export const BROKEN: NodeJS.ErrnoException = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })

/** A disk in place of `fs.fdatasync`: it answers at once, until it is held. */
export interface HeldDisk {
  /** How many syncs it has not answered yet. */
  readonly asked: number
  /** The file that it was asked for last. */
  readonly descriptor: number | undefined
  /** From now on it answers only when it is told to. */
  hold(): void
  /** Answers the oldest sync. */
  answer(error?: NodeJS.ErrnoException): void
  /** Answers all that was asked and what is asked from now on, and gives what follows from it the time to happen. */
  release(): Promise<void>
  /** Puts the disk of the machine back. */
  restore(): void
}

/** Puts a disk that can be held in the place of the machine's. */
export function createHeldDisk(): HeldDisk {
  const { fdatasync } = fs
  const waiting: Answer[] = []
  let isHeld = false
  let last: number | undefined
  fs.fdatasync = ((descriptor: number, answer: Answer) => {
    last = descriptor
    if (isHeld) waiting.push(answer)
    else setImmediate(() => { answer(null) })
  }) as typeof fs.fdatasync
  return {
    get asked() { return waiting.length },
    get descriptor() { return last },
    hold() { isHeld = true },
    answer(error) { waiting.shift()?.(error ?? null) },
    async release() {
      isHeld = false
      for (const answer of waiting.splice(0)) answer(null)
      await iterations(100)
    },
    restore() { Object.assign(fs, { fdatasync }) },
  }
}

type Act = () => Promise<unknown>

/** Does two things at nearly the same time; gives what each was answered. */
export type Together = (given: { readonly disk: HeldDisk; readonly host: Host }, first: Act, second: Act) => Promise<readonly unknown[]>

/** Two things at nearly the same time, in each way that makes a difference to what is written. */
export const TOGETHER = {
  'while the disk works on the one': async ({ disk }, first, second) => {
    disk.hold()
    const one = first()
    await until(() => disk.asked === 1)
    const two = second()
    await iterations()
    await disk.release()
    return Promise.all([one, two])
  },
  /** Needs a workflow `order`, whose start the disk works on meanwhile. */
  'in one commit': async ({ disk, host }, first, second) => {
    disk.hold()
    const other = host.start({ workflowId: 'order', input: { order: 'other' } })
    await until(() => disk.asked === 1)
    const both = [first(), second()]
    await iterations()
    await disk.release()
    await other
    return Promise.all(both)
  },
  'in one iteration of the event loop': (_, first, second) => Promise.all([first(), second()]),
  'an iteration of the event loop apart, on the disk of the machine': (given, first, second) => apart(1, given.disk, [first, second]),
  'three iterations of the event loop apart, on the disk of the machine': (given, first, second) => apart(3, given.disk, [first, second]),
} as const satisfies Readonly<Record<string, Together>>

async function apart(count: number, disk: HeldDisk, [first, second]: readonly [Act, Act]): Promise<readonly unknown[]> {
  disk.restore()
  const one = first()
  await iterations(count)
  return Promise.all([one, second()])
}

/** Lets so many iterations of the event loop pass. */
export async function iterations(count = 20): Promise<void> {
  for (let passed = 0; passed < count; passed += 1) await new Promise((resolve) => { setImmediate(resolve) })
}

/** Lets everything happen that follows by itself: also events that go out are written off then, for which `quiet` does not wait. */
export async function rest(runtime: Runtime): Promise<void> {
  await runtime.quiet()
  await iterations()
}

/** Lets everything happen that needs no iteration of the event loop. */
export async function microtasks(): Promise<void> {
  await new Promise<void>((resolve) => { process.nextTick(resolve) })
  for (let count = 0; count < 20; count += 1) await Promise.resolve()
}

/** Whether a promise is settled after some iterations of the event loop. */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  promise.then(() => { settled = true }, () => { settled = true })
  await iterations()
  return settled
}

/** The code of the error that a promise rejects with; the value where it does not. */
export function codeOf<Value>(promise: Promise<Value>): Promise<unknown> {
  return promise.catch((error: unknown) => (error as { readonly code: string }).code)
}

/** Reads from the store of a project, past its host. */
export function select({ file }: DurableProject, sql: string): readonly Row[] {
  const database = new Database(file)
  const rows = database.prepare(sql).all()
  database.close()
  return rows
}

/** How many rows each table holds of instances; a table that holds none is left out. */
export function leftovers(project: DurableProject): Readonly<Record<string, number>> {
  const counts = TABLES.map((table) => [table, Number(select(project, `select count(*) as rows from ${table}`)[0]?.['rows'])] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** The only instance under way, as it is stored: a host tells of it when it is safe. */
export function passing(project: DurableProject): { readonly id: string; readonly waitingFor: readonly WaitRecord[] } {
  const rows = select(project, 'select instance from passing')
  const { facts, waitingFor = [] } = JSON.parse(String(rows[0]?.['instance'])) as { facts: { id: string }; waitingFor?: readonly WaitRecord[] }
  return { id: facts.id, waitingFor }
}

/** The events that went out, as `<source> <type>`, in their order. */
export function sent({ events }: DurableProject): readonly string[] {
  return events.map(({ source, type }) => `${source} ${type}`)
}
