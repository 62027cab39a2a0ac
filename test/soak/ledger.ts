import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { EFFECTS, SLEEP } from './definitions.ts'

interface Effect {
  readonly kind: 'effect'
  readonly name: string
  readonly order: string
  readonly item: string | null
  readonly key: string
  readonly at: number
}

interface Produced {
  readonly kind: 'event'
  readonly id: string
  readonly data: { readonly order: string; readonly count: number; readonly credit: string; readonly paid: unknown }
}

/** What the workers of a run have written down. */
export interface Ledger {
  readonly effects: readonly Effect[]
  readonly events: readonly Produced[]
}

/** Reads what has happened so far; a line that a kill cut short is left out. */
export function readLedger(directory: string): Ledger {
  const file = join(directory, 'ledger.jsonl')
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const entries = lines.flatMap((line): (Effect | Produced)[] => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Effect | Produced]
    } catch {
      return []
    }
  })
  return { effects: entries.filter((entry) => entry.kind === 'effect'), events: entries.filter((entry) => entry.kind === 'event') }
}

/** What is wrong with an order that should be done: empty when all is exact. */
export function faultsOf({ effects, events }: Ledger, order: string, cancelled: boolean): string[] {
  const faults: string[] = []
  const own = effects.filter((effect) => effect.order === order)
  const byKey = new Map(own.map((effect) => [effect.key, effect]))
  const names = [...byKey.values()].map(({ name }) => name).sort()
  const expected: string[] = [...EFFECTS, ...(cancelled ? ['release'] : [])].sort()
  if (names.join(' ') !== expected.join(' ')) faults.push(`${order}: effects are ${names.join(' ')}, expected ${expected.join(' ')}`)
  const items = [...byKey.values()].filter(({ name }) => name === 'item').map(({ item }) => item).sort().join('')
  if (items !== 'abc') faults.push(`${order}: items are ${items}`)
  const produced = events.filter(({ data }) => data.order === order)
  if (new Set(produced.map(({ id }) => id)).size !== 1) faults.push(`${order}: events ${produced.map(({ id }) => id).join(' ')}`)
  for (const { data } of produced) {
    if (data.count !== 3 || data.credit !== 'good' || JSON.stringify(data.paid) !== `{"amount":5}`) faults.push(`${order}: result ${JSON.stringify(data)}`)
  }
  const before = Math.max(...own.filter(({ name }) => name === 'item').map(({ at }) => at))
  const after = Math.min(...own.filter(({ name }) => name === 'ready').map(({ at }) => at))
  if (after - before < SLEEP) faults.push(`${order}: the timer fired after ${String(after - before)} ms`)
  return faults
}

/** How many effects ran again after a kill. */
export function repeatsOf({ effects }: Ledger): number {
  return effects.length - new Set(effects.map(({ key }) => key)).size
}

/** Rows that a store should not hold when all is done, by table. */
export function rowsLeft(file: string): readonly string[] {
  const Database = createRequire(import.meta.url)('libsql') as new (path: string) => { prepare(sql: string): { get(): { rows: number } }; close(): void }
  const database = new Database(file)
  const left = ['instance', 'passing', 'timer', 'wait', 'outbox', 'effect', 'history', 'gathering'].flatMap((table) => {
    const { rows } = database.prepare(`select count(*) as rows from ${table}`).get()
    return rows === 0 ? [] : [`${table}: ${String(rows)} rows left`]
  })
  database.close()
  return left
}
