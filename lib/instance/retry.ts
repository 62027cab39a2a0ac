import type { Action, RetryDefinition } from '../definition/index.ts'
import type { RetryProgress } from './context.ts'
import type { Program } from './program.ts'
import type { WorkflowError } from './workflow-error.ts'

/** The policy of `autoRetries` without a `retryRef`: from one second, doubling, without end (S208). */
const DEFAULT_RETRY: RetryDefinition = { name: 'default', delay: 1000, increment: 0, multiplier: 2 }

/** Tells whether an action may be tried again after an error (S204–S210, A12). */
export function mayRetry(program: Program, action: Action, progress: RetryProgress | undefined, error: WorkflowError | undefined): boolean {
  if (error === undefined) return false
  const policy = policyOf(program, action)
  if (policy === undefined || (policy.maxAttempts !== undefined && (progress?.count ?? 0) >= policy.maxAttempts)) return false
  const matches = (name: string): boolean => program.errors.get(name)?.(error) ?? false
  if (program.definition.autoRetries) return !action.nonRetryableErrors.some(matches)
  return action.retryableErrors.length > 0 ? action.retryableErrors.some(matches) : [...program.errors.keys()].some(matches)
}

function policyOf(program: Program, action: Action): RetryDefinition | undefined {
  const named = action.retryRef === undefined ? undefined : program.retries.get(action.retryRef)
  return named ?? (program.definition.autoRetries ? DEFAULT_RETRY : undefined)
}

/** Computes the delay before the next try: (delay × multiplier) + increment, then jitter, then the cap (S214–S219, A27). */
export function nextRetry(
  program: Program,
  action: Action,
  progress: RetryProgress | undefined,
  error: WorkflowError | undefined,
  random: () => number,
): RetryProgress {
  const policy = policyOf(program, action) ?? DEFAULT_RETRY
  const base = progress === undefined ? policy.delay : progress.base * policy.multiplier + policy.increment
  const jittered = Math.max(0, base + spread(policy, base) * (2 * random() - 1))
  const asked = Math.max(jittered, error?.retryAfter ?? 0)
  return { count: (progress?.count ?? 0) + 1, delay: Math.round(Math.min(asked, policy.maxDelay ?? Infinity)), base }
}

function spread({ jitter }: RetryDefinition, base: number): number {
  if (jitter === undefined) return 0
  return 'share' in jitter ? base * jitter.share : jitter.absolute
}
