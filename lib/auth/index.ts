export type {
  Authorization,
  AuthorizationContext,
  AuthDefinitionLike,
  AuthorizedRequest,
  Authorizer,
  OperationSecurity,
  SecurityScheme,
} from './authorization.ts'
export { createAuthorizer, type AuthorizerOptions } from './create-authorizer.ts'
export { createTokenSource, type TokenSource, type TokenSourceOptions, type TokenWish } from './token-source.ts'
export type { CredentialsProvider } from './credentials-provider.ts'
export type { OAuthClient } from './oauth-client.ts'
export { createAccessControl, type AccessControl, type AccessControlOptions, type InboundRequest } from './inbound.ts'
export type { Identity, InboundHeaders } from './identity.ts'
