export { ERROR_CODES, type CodeOf, type ErrorClassName, type ErrorCode } from './codes.ts'
export { SonatinaError, type ErrorOptions } from './sonatina-error.ts'
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
  type ExpressionErrorDetails,
  type Violation,
} from './classes.ts'
