export type { Catalogue, LoadFailure } from './catalogue.ts'
export { compileDataSchema, type DataValidator } from './data-schema.ts'
export { withoutDuplicates } from './duplicates.ts'
export { expressionSites } from './expression-sites.ts'
export { lint, type LintOptions } from './lint.ts'
export { describeViolation, inDocumentOrder } from './invalid.ts'
export { loadDefinition, loadDefinitions, type DefinitionInput, type LoadOptions } from './load.ts'
export { findMissingWorkflows } from './missing-workflows.ts'
export { normalise } from './normalise.ts'
export { type NormaliseOptions } from './normalise/to-definition.ts'
export { parseDocument } from './parse.ts'
export { createSourceLocator, type SourceLocator } from './source-places.ts'
export { validate } from './validate.ts'
export type {
  Action,
  ActionDataFilter,
  ActionEventRef,
  AuthDefinition,
  Branch,
  CallbackState,
  Continuation,
  ContinueAs,
  Correlation,
  DataCondition,
  DataSchema,
  Definition,
  End,
  ErrorDefinition,
  EventCondition,
  EventDataFilter,
  EventDefinition,
  EventState,
  ForEachState,
  FunctionDefinition,
  FunctionRef,
  InjectState,
  LoadedDefinition,
  OnError,
  OnEvents,
  OperationState,
  ParallelState,
  ProducedEvent,
  RetryDefinition,
  Schedule,
  SleepState,
  Start,
  State,
  StateCommon,
  StateType,
  SubFlowRef,
  SwitchState,
  Timeouts,
  Transition,
  WorkflowExecTimeout,
} from './types.ts'
