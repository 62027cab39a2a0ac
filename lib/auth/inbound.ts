import type { Clock, Logger } from '../common/index.ts'
import type { Settings } from '../configuration/index.ts'
import { RequestError } from '../errors/index.ts'
import type { HttpClient } from '../http-client/index.ts'
import type { MaybePromise } from './authorization.ts'
import { createBearerMechanism } from './bearer.ts'
import { createApiKeyMechanism, createBasicMechanism } from './embedded-users.ts'
import type { Identity, InboundHeaders, Mechanism } from './identity.ts'
import { canonicalPath, fulfils, readPermissions, type Permissions, type Rule } from './permissions.ts'

/** A request as access control sees it: before its body is read. */
interface InboundRequest {
  readonly method: string
  /** As it was sent; a query does not matter. */
  readonly path: string
  readonly headers: InboundHeaders
}

/** Decides who may call the service (configuration.md §7). */
export interface AccessControl {
  /** Whether anything is to be checked at all; otherwise requests need not be shown. */
  readonly active: boolean
  /**
   * Finds out who calls; `undefined` when the request has no credentials.
   *
   * @throws {@link RequestError} `UNAUTHENTICATED`, `NOT_AVAILABLE`
   */
  authenticate(headers: InboundHeaders): MaybePromise<Identity | undefined>
  /**
   * Lets a request pass, giving the caller as far as known.
   *
   * @throws {@link RequestError} `UNAUTHENTICATED` (`details.challenge` is the value of `WWW-Authenticate`), `FORBIDDEN`,
   * `NOT_AVAILABLE`, `REQUEST_INVALID` for a path that cannot be decoded.
   */
  authorize(request: InboundRequest): MaybePromise<Identity | undefined>
}

/** What access control is made from. */
export interface AccessControlOptions {
  readonly settings: Settings
  /** Fetches keys of the issuer. */
  readonly httpClient: HttpClient
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Creates the access control of the settings.
 *
 * @throws {@link ConfigurationError} when a permission, a policy or an identity cannot be understood: ignoring one would open what
 * the author closed.
 */
export function createAccessControl(options: AccessControlOptions): AccessControl {
  const { settings } = options
  const mechanisms = [createBearerMechanism(options), createBasicMechanism(settings), createApiKeyMechanism(settings)]
    .filter((mechanism) => mechanism !== undefined)
  const permissions = readPermissions(settings)
  if (permissions.count > 0 && mechanisms.length === 0) {
    options.log.warn({}, 'There are permissions but no way to prove who one is: only paths with the policy permit can be called')
  }
  return new SettingsAccessControl(mechanisms, permissions, settings.boolean('sonatina.http.auth.proactive', true))
}

class SettingsAccessControl implements AccessControl {
  readonly active: boolean
  readonly #mechanisms: readonly Mechanism[]
  readonly #rulesOf: Permissions
  readonly #proactive: boolean
  readonly #challenge: string | undefined

  constructor(mechanisms: readonly Mechanism[], permissions: ReturnType<typeof readPermissions>, proactive: boolean) {
    this.#mechanisms = mechanisms
    this.#rulesOf = permissions.rulesOf
    this.#proactive = proactive
    this.active = permissions.count > 0 || mechanisms.length > 0
    const challenges = mechanisms.flatMap(({ challenge }) => (challenge === undefined ? [] : [challenge]))
    this.#challenge = challenges.length > 0 ? challenges.join(', ') : undefined
  }

  authenticate(headers: InboundHeaders): MaybePromise<Identity | undefined> {
    try {
      for (const mechanism of this.#mechanisms) {
        const identity = mechanism.authenticate(headers)
        if (identity !== undefined) return identity instanceof Promise ? identity.catch((error: unknown) => { throw this.#withChallenge(error) }) : identity
      }
      return undefined
    } catch (error) {
      throw this.#withChallenge(error)
    }
  }

  authorize(request: InboundRequest): MaybePromise<Identity | undefined> {
    const path = canonicalPath(request.path)
    if (path === undefined) throw new RequestError({ code: 'REQUEST_INVALID', message: 'The path of the request cannot be decoded' })
    const rules = this.#rulesOf(request.method.toUpperCase(), path)
    if (!this.#proactive && rules.every((rule) => rule === 'permit')) return undefined
    const identity = this.authenticate(request.headers)
    return identity instanceof Promise ? identity.then((known) => this.#decide(rules, known)) : this.#decide(rules, identity)
  }

  #decide(rules: readonly Rule[], identity: Identity | undefined): Identity | undefined {
    if (rules.every((rule) => fulfils(rule, identity))) return identity
    if (identity || rules.includes('deny')) throw new RequestError({ code: 'FORBIDDEN', message: 'The caller may not do this' })
    throw this.#withChallenge(new RequestError({ code: 'UNAUTHENTICATED', message: 'This address needs a caller who proves who they are' }))
  }

  #withChallenge(error: unknown): unknown {
    if (!(error instanceof RequestError) || error.code !== 'UNAUTHENTICATED' || this.#challenge === undefined) return error
    return new RequestError({ code: error.code, message: error.message, details: { challenge: this.#challenge } })
  }
}
