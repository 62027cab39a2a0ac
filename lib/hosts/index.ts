export type {
  Host,
  InstanceFailure,
  InstancePage,
  InstanceQuery,
  InstanceRecord,
  InstanceStatus,
  NodeRecord,
  StartRequest,
  WaitRecord,
} from './host.ts'
export type { HistoryStep } from '../instance/index.ts'
export type { DeployedWorkflow, Deployments } from './deployments.ts'
export type { RunningHost } from './running-host.ts'
export type { KernelOptions } from './parts.ts'
export type { CrashPoint, Durability } from './durability.ts'
export type { StoredDefinition } from './journal.ts'
export { canWait, waitsItself } from './can-wait.ts'
export { createSchedules } from './schedules.ts'
export { compileSchedule } from './schedule.ts'
