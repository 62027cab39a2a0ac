export type {
  Authorization,
  AuthorizedRequest,
  Authorizer,
  OperationSecurity,
  SecurityScheme,
} from './authorization.ts'
export { createAuthorizer } from './create-authorizer.ts'
export { createTokenSource, type TokenSource } from './token-source.ts'
export type { CredentialsProvider } from './credentials-provider.ts'
export type { OAuthClient } from './oauth-client.ts'
export { createAccessControl, type AccessControl } from './inbound.ts'
export type { Identity, InboundHeaders } from './identity.ts'
export { readPermissions } from './permissions.ts'
