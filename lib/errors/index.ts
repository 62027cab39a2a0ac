export { ERROR_CODES, type ErrorCode } from './codes.ts'
export { SonatinaError } from './sonatina-error.ts'
export {
  ConfigurationError,
  DataInputError,
  DefinitionError,
  EventError,
  ExpressionError,
  FunctionError,
  HostError,
  InstanceError,
  RequestError,
  TenancyError,
  type Violation,
} from './classes.ts'
