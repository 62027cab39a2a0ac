import type { CancelSignal } from '../common/index.ts'
/** A value now, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>

/** The parts of a request that credentials go into; all are changed in place. */
export interface AuthorizedRequest {
  readonly headers: Record<string, string>
  readonly query: Record<string, string>
  readonly cookies: Record<string, string>
}

/** Who calls, for schemes that pass a caller's credential on. */
export interface AuthorizationContext {
  /** Inbound headers of the instance, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Stops waiting for a token; a token request that others wait for goes on. */
  readonly signal?: CancelSignal
}

/** The credentials of one operation, compiled at load. */
export interface Authorization {
  /**
   * Puts the credentials into a request. Answers at once when no token must be fetched.
   *
   * @throws {@link FunctionError} `AUTH_FAILED`: no client, no inbound credential, or the authorization server refuses.
   */
  apply(request: AuthorizedRequest, context: AuthorizationContext): MaybePromise<void>
  /**
   * Drops the tokens that `apply` put into this request, after the remote service answered 401.
   *
   * Gives whether it is worth to apply again and repeat the call, once: true when a token came from the cache, false when it was
   * fetched within this very call or the credentials cannot change.
   */
  renew(request: AuthorizedRequest): boolean
}

/** A security scheme of an OpenAPI 3 or Swagger 2.0 document. */
export interface SecurityScheme {
  /** `http`, `apiKey`, `oauth2`, `openIdConnect`, `mutualTLS`; `basic` in 2.0. */
  readonly type: string
  readonly scheme?: string
  readonly name?: string
  readonly in?: string
  readonly openIdConnectUrl?: string
  readonly flows?: Readonly<Record<string, { readonly tokenUrl?: string } | undefined>>
  /** 2.0: `implicit`, `password`, `application`, `accessCode`. */
  readonly flow?: string
  /** 2.0. */
  readonly tokenUrl?: string
}

/** What an operation asks for. */
export interface OperationSecurity {
  /** Key of the document (configuration.md §2). */
  readonly fileKey: string
  /** The document as the author knows it, for messages: `specs/acme-financial-service.yml`. */
  readonly document: string
  readonly operation: string
  /** The operation's `security`, else the document's. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  readonly schemes: Readonly<Record<string, SecurityScheme>>
  /** Root address of the service, which a relative `tokenUrl` resolves against. */
  readonly base?: string
}

/** An `auth` definition of a workflow (S282–S292). */
export interface AuthDefinitionLike {
  readonly name: string
  readonly scheme: 'basic' | 'bearer' | 'oauth2'
  readonly properties: Readonly<Record<string, unknown>> | string
}

/** Compiles the security of operations at load, and keeps the tokens. */
export interface Authorizer {
  /**
   * Compiles the security of an operation; `undefined` when it needs none.
   *
   * A scheme without a client is logged once as a warning and fails at call time, unless `sonatina.auth.fail-fast=true`.
   *
   * @throws {@link ConfigurationError} for settings of the scheme that cannot work, such as a `:` in a user name.
   */
  compile(security: OperationSecurity): Authorization | undefined
  /**
   * Compiles an `auth` definition of a workflow; `evaluate` gives the value of one property text (an expression or plain text)
   * each time credentials are needed.
   */
  compileDefinition(definition: AuthDefinitionLike, evaluate: (text: string) => MaybePromise<unknown>): Authorization
  /** Stops background renewal and forgets all tokens. */
  close(): void
}
