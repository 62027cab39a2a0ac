export type {
  Authorization,
  AuthorizationContext,
  AuthDefinitionLike,
  AuthorizedRequest,
  Authorizer,
  OperationSecurity,
  SecurityScheme,
} from './authorization.ts'
