/** Who calls the service. */
export interface Identity {
  readonly name: string
  readonly roles: readonly string[]
  readonly scheme: 'basic' | 'bearer' | 'api-key'
}

/** Header fields of an inbound request, names in lower case. */
export type InboundHeaders = Readonly<Record<string, string | string[] | undefined>>

/** One way to find out who calls. */
export interface Mechanism {
  /** What `WWW-Authenticate` says; `undefined` when the way has no challenge. */
  readonly challenge: string | undefined
  /**
   * Gives the caller; `undefined` when the request has no credentials of this kind.
   *
   * @throws {@link RequestError} `UNAUTHENTICATED` for wrong credentials, `NOT_AVAILABLE` when they cannot be checked now.
   */
  authenticate(headers: InboundHeaders): Identity | undefined | Promise<Identity>
}
