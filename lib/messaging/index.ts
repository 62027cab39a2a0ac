export { createOutgoing, type Outgoing } from './outgoing.ts'
export { createLifecycle, type Lifecycle } from './lifecycle.ts'
