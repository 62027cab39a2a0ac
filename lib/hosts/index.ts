export type {
  Delivery,
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
export type { Kernel, KernelOptions } from './kernel.ts'
export { createSchedules, type Schedules } from './schedules.ts'
export { compileSchedule } from './schedule.ts'
