import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { Clock, IdSource } from '../common/index.ts'
import type { Secret } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import type { AssertionOptions, OAuthClient } from './oauth-client.ts'

/** Value of `client_assertion_type` (RFC 7523 §2.2). */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** What signing needs from outside. */
export interface SigningContext {
  readonly tokenUrl: string
  readonly clock: Clock
  readonly ids: IdSource
}

/**
 * Signs the assertion by which a client proves its identity: iss and sub are the client id, aud the token address, with a fresh
 * jti and a short life (configuration.md §4).
 *
 * @throws {@link ConfigurationError} when there is nothing to sign with, or the key cannot be read.
 */
export async function signAssertion(client: OAuthClient, options: AssertionOptions, { tokenUrl, clock, ids }: SigningContext): Promise<string> {
  const key = options.key === undefined ? hmacKey(client, options.secret ?? (await client.secret())) : readPrivateKey(client, options.key, options.keyPassword)
  const now = Math.floor(clock.now() / 1000)
  const { SignJWT } = await import('jose')
  return new SignJWT({ ...options.claims })
    .setProtectedHeader({ alg: options.algorithm ?? defaultAlgorithm(key), typ: 'JWT', ...(options.keyId === undefined ? {} : { kid: options.keyId }) })
    .setIssuer(options.issuer ?? client.clientId)
    .setSubject(options.subject ?? client.clientId)
    .setAudience(options.audience ?? tokenUrl)
    .setJti(ids.next())
    .setIssuedAt(now)
    .setExpirationTime(now + options.lifespan)
    .sign(key)
}

function hmacKey(client: OAuthClient, secret: Secret | undefined): Uint8Array {
  if (secret) return new TextEncoder().encode(secret.reveal())
  throw new ConfigurationError({ code: 'CONFIGURATION_MISSING', message: `The client "${client.name}" has neither a secret nor a key to sign its assertion with` })
}

/** Reads a private key from PEM, from the base64 of PKCS8, or from a JWK. @throws {@link ConfigurationError} */
function readPrivateKey(client: { readonly name: string }, key: Secret, password: Secret | undefined): KeyObject {
  const text = key.reveal().trim()
  try {
    if (text.startsWith('{')) return createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: 'jwk' })
    const pem = text.startsWith('-----') ? text : `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----`
    return createPrivateKey({ key: pem, format: 'pem', ...(password === undefined ? {} : { passphrase: password.reveal() }) })
  } catch (error) {
    // The parser's own message may quote the key.
    const code = (error as NodeJS.ErrnoException).code
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `The private key of the client "${client.name}" cannot be read${code === undefined ? '' : ` (${code})`}; give PKCS8 as PEM, or a JWK` })
  }
}

function defaultAlgorithm(key: KeyObject | Uint8Array): string {
  if (key instanceof Uint8Array) return 'HS256'
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return 'EdDSA'
    case 'ec':
      return { secp384r1: 'ES384', secp521r1: 'ES512' }[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 'ES256'
    default:
      return 'RS256'
  }
}
