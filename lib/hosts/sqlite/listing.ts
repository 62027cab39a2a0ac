import type { InstanceRecord } from '../host.ts'

/** A record and its position in the order in which instances began. */
export interface ListedRecord {
  readonly position: number
  readonly record: InstanceRecord
}

/** The place of a record in a list: newest first, and those of one millisecond by position. */
export interface ListPosition {
  readonly startedAt: number
  readonly position: number
}

/** Conditions of a query, with the values of their placeholders. */
export class Conditions {
  readonly #conditions: string[] = []
  readonly values: unknown[] = []

  add(condition: string, ...values: readonly unknown[]): void {
    this.#conditions.push(condition)
    this.values.push(...values)
  }

  /** When instances started, and what comes after a place in the list; `position` names the column. */
  addStart({ startedAfter, startedBefore }: { readonly startedAfter: number | undefined; readonly startedBefore: number | undefined }, before: ListPosition | undefined, position: string): void {
    if (startedAfter !== undefined) this.add('started_at >= ?', startedAfter)
    if (startedBefore !== undefined) this.add('started_at <= ?', startedBefore)
    if (before !== undefined) this.add(`(started_at < ? or (started_at = ? and ${position} < ?))`, before.startedAt, before.startedAt, before.position)
  }

  /** The clause; empty without a condition. */
  get text(): string {
    return this.#conditions.length === 0 ? '' : `where ${this.#conditions.join(' and ')}`
  }
}

/** Joins lists that are in order, newest first. */
export function newestOf(lists: readonly (readonly ListedRecord[])[], limit: number): readonly InstanceRecord[] {
  return lists.flat()
    .sort((left, right) => right.record.startedAt - left.record.startedAt || right.position - left.position)
    .slice(0, limit)
    .map(({ record }) => record)
}
