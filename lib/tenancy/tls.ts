import { constants } from 'node:crypto'

/** Whether a connection needs a certificate: `permissive` also lets in those without, which then have no identity. */
export type TlsMode = 'strict' | 'permissive'

/** Key material of a server, as PEM text. */
export interface TlsMaterial {
  /** Certificate of the server with its intermediates. */
  readonly certificate: string
  readonly key: string
  /** Bundle of the authorities whose clients are let in; the system's own are not used. */
  readonly authorities: string
}

/** Options of an HTTPS server; `https.createServer` and `setSecureContext` take them. */
export interface TlsServerOptions {
  readonly cert: string
  readonly key: string
  readonly ca: string
  readonly requestCert: true
  readonly rejectUnauthorized: boolean
  readonly minVersion: 'TLSv1.2'
  readonly secureOptions: number
}

/**
 * Makes the options of an HTTPS server that asks for client certificates (tenancy.md, section 7): TLS 1.2 or newer, only the given
 * authorities, and in `strict` mode no connection without a valid certificate. When files change, make them anew for
 * `server.setSecureContext`.
 *
 * @param mode @default 'strict'
 */
export function toServerOptions(material: TlsMaterial, mode: TlsMode = 'strict'): TlsServerOptions {
  return {
    cert: material.certificate,
    key: material.key,
    ca: material.authorities,
    requestCert: true,
    rejectUnauthorized: mode === 'strict',
    minVersion: 'TLSv1.2',
    // A resumed session is not verified again: an expired certificate or a removed authority would live on in it.
    secureOptions: constants.SSL_OP_NO_TICKET,
  }
}
