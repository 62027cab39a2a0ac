export type { Catalogue, LoadFailure } from './catalogue.ts'
export { compileDataSchema, type DataSchemaOptions, type DataValidator } from './data-schema.ts'
export { checkDuplicates } from './duplicates.ts'
export { expressionSites, type ExpressionPurpose, type ExpressionSite } from './expression-sites.ts'
export { lint, type LintOptions } from './lint.ts'
export { loadDefinition, loadDefinitions, type DefinitionInput, type LoadOptions, type LoadResult } from './load.ts'
export { findMissingWorkflows, type PlacedWarning } from './missing-workflows.ts'
export { normalise } from './normalise.ts'
export { type NormaliseOptions } from './normalise/to-definition.ts'
export { parseDocument, type ParsedDocument, type ParseOptions, type Position } from './parse.ts'
export { type ReadResourceOptions } from './read-resource.ts'
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
  DefinitionSource,
  End,
  ErrorDefinition,
  EventCondition,
  EventDataFilter,
  EventDefinition,
  EventState,
  ForEachState,
  FunctionDefinition,
  FunctionRef,
  FunctionType,
  InjectState,
  LintWarning,
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
