export { createOutgoing, type Outgoing, type OutgoingOptions } from './outgoing.ts'
export { createLifecycle, type Lifecycle, type LifecycleOptions, type LifecycleSubject } from './lifecycle.ts'
