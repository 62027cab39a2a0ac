export { translate } from './translate.ts'
export { actionName } from './actions.ts'
export {
  FAILED_TAG,
  MACHINE_EVENTS,
  type Address,
  type InvokeConfig,
  type MachineConfig,
  type Named,
  type NodeConfig,
  type TransitionConfig,
  type WorkflowMachines,
} from './machine-config.ts'
