import type Koa from 'koa'
import type { Json } from '../common/index.ts'
import type { InstanceRecord, InstanceStatus } from '../hosts/index.ts'
import type { Problem } from './problem.ts'

/** Media type of every JSON answer. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Answers a JSON value. */
export function answerJson(ctx: Koa.Context, status: number, value: unknown): void {
  ctx.status = status
  // Set before the body, so that Koa does not look the type up.
  ctx.set('Content-Type', JSON_TYPE)
  ctx.body = JSON.stringify(value)
}

/** Answers an error. */
export function answerProblem(ctx: Koa.Context, problem: Problem): void {
  for (const name in problem.headers) ctx.set(name, problem.headers[name] ?? '')
  answerJson(ctx, problem.status, problem.body)
}

/** What callers see of an instance: `{id, workflowdata}`. */
export function toRepresentation(record: InstanceRecord): { id: string; workflowdata: Json } {
  return { id: record.id, workflowdata: record.data }
}

const OUTWARD: Readonly<Record<InstanceStatus, string>> = {
  active: 'Active',
  waiting: 'Active',
  completed: 'Completed',
  aborted: 'Aborted',
  error: 'Error',
}

/** Gives the status word for callers (http-contract.md §6, decisions.md 15). */
export function toStatusWord(status: InstanceStatus): string {
  return OUTWARD[status]
}

/** Gives the statuses that a word of a caller stands for; `undefined` for an unknown word. */
export function fromStatusWord(word: string): readonly InstanceStatus[] | undefined {
  switch (word.toLowerCase()) {
    case 'active':
      return ['active', 'waiting']
    case 'waiting':
      return ['waiting']
    case 'completed':
      return ['completed']
    case 'aborted':
      return ['aborted']
    case 'error':
      return ['error']
    // Known to callers, never taken by an instance of ours.
    case 'pending':
    case 'suspended':
      return []
    default:
      return undefined
  }
}
