/**
 * Every error code of the product, by class. One table in `server/problem.ts` maps each to an HTTP status, and
 * `docs/errors/` has a page for each.
 */
export const ERROR_CODES = {
  DefinitionError: ['DEFINITION_INVALID', 'DEFINITION_UNSUPPORTED', 'DEFINITION_NOT_FOUND'],
  ConfigurationError: ['CONFIGURATION_MISSING', 'CONFIGURATION_INVALID'],
  DataInputError: ['DATA_INPUT_INVALID', 'DATA_OUTPUT_INVALID'],
  ExpressionError: ['EXPRESSION_SYNTAX', 'EXPRESSION_FAILED', 'EXPRESSION_LIMIT'],
  FunctionError: [
    'FUNCTION_NOT_FOUND',
    'FUNCTION_ARGUMENT_INVALID',
    'FUNCTION_FAILED',
    'FUNCTION_TIMEOUT',
    'REST_STATUS',
    'AUTH_FAILED',
  ],
  EventError: ['CLOUD_EVENT_INVALID', 'CORRELATION_MISSING'],
  InstanceError: [
    'INSTANCE_NOT_FOUND',
    'INSTANCE_CONFLICT',
    'INSTANCE_ABORTED',
    'INSTANCE_LOOP',
    'INSTANCE_FAILED',
    'INSTANCE_NOT_FAILED',
    'INSTANCE_START_INVALID',
    'NODE_NOT_FOUND',
    'STATE_TIMEOUT',
  ],
  HostError: ['STORE_UNAVAILABLE', 'STORE_LOCKED', 'HOST_CLOSED', 'HOST_BUSY', 'SNAPSHOT_INCOMPATIBLE'],
  TenancyError: ['TENANCY_INVALID', 'TENANCY_DENIED'],
  RequestError: [
    'REQUEST_INVALID',
    'REQUEST_NOT_JSON',
    'ADDRESS_UNKNOWN',
    'METHOD_NOT_ALLOWED',
    'MEDIA_TYPE_UNSUPPORTED',
    'BODY_TOO_LARGE',
    'HEADERS_TOO_LARGE',
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'TOO_MANY_REQUESTS',
    'NOT_AVAILABLE',
    'INTERNAL',
  ],
} as const

/** Names of the error classes. */
type ErrorClassName = keyof typeof ERROR_CODES

/** The codes that errors of one class may carry. */
export type CodeOf<Class extends ErrorClassName> = (typeof ERROR_CODES)[Class][number]

/** Any error code of the product. */
export type ErrorCode = CodeOf<ErrorClassName>
