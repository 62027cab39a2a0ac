export type {
  Delivery,
  HistoryStep,
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
