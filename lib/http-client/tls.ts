import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createSecureContext, type ConnectionOptions } from 'node:tls'
import type forge from 'node-forge'
import { ConfigurationError } from '../errors/index.ts'
import type { StoreOptions, TlsOptions } from './options.ts'

/**
 * Reads the stores of a client and gives the options of its TLS sockets.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` naming the file: unreadable, wrong password, JKS.
 */
export function loadTls(client: string, options: Partial<TlsOptions> | undefined): ConnectionOptions {
  if (!options) return {}
  return {
    ...(options.trustStore ? { ca: loadTrustStore(client, options.trustStore) } : {}),
    ...(options.keyStore ? loadKeyStore(client, options.keyStore) : {}),
    ...(options.verifyHost === false ? { checkServerIdentity: () => undefined } : {}),
    ...(options.verifyCertificate === false ? { rejectUnauthorized: false } : {}),
  }
}

function loadTrustStore(client: string, store: StoreOptions): string[] {
  const content = read(client, 'trust store', store)
  if (isPem(store, content)) {
    const text = content.toString('utf8')
    if (!text.includes('-----BEGIN CERTIFICATE-----')) throw invalid(client, store, 'holds no PEM certificate')
    return [text]
  }
  // Node reads a PKCS12 file only together with a private key, which a trust store does not have.
  const pki = createRequire(import.meta.url)('node-forge') as typeof forge
  try {
    const file = pki.pkcs12.pkcs12FromAsn1(pki.asn1.fromDer(content.toString('binary')), store.password?.reveal() ?? '')
    const oid = pki.pki.oids['certBag'] ?? ''
    const bags = file.getBags({ bagType: oid })[oid] ?? []
    const certificates = bags.flatMap(({ cert, asn1 }) =>
      cert ? [pki.pki.certificateToPem(cert)] : [pki.pem.encode({ type: 'CERTIFICATE', body: pki.asn1.toDer(asn1).getBytes() })])
    if (certificates.length > 0) return certificates
  } catch (error) {
    throw invalid(client, store, 'cannot be opened: the password is wrong, or it is not PKCS12', error)
  }
  throw invalid(client, store, 'holds no certificate')
}

function loadKeyStore(client: string, store: StoreOptions): ConnectionOptions {
  const content = read(client, 'key store', store)
  const password = store.password?.reveal()
  const options: ConnectionOptions = isPem(store, content)
    ? { cert: content, key: content, ...(password === undefined ? {} : { passphrase: password }) }
    : { pfx: content, passphrase: password ?? '' }
  try {
    createSecureContext(options)
  } catch (error) {
    throw invalid(client, store, 'cannot be used: wrong password, or no certificate with its private key', error)
  }
  return options
}

function isPem(store: StoreOptions, content: Buffer): boolean {
  return store.type === undefined ? content.includes('-----BEGIN ') : store.type === 'PEM'
}

const JKS_MAGIC = 0xfeedfeed

function read(client: string, what: string, store: StoreOptions): Buffer {
  let content: Buffer
  try {
    content = readFileSync(store.file)
  } catch (error) {
    throw invalid(client, store, `(${what}) cannot be read`, error)
  }
  if (content.length >= 4 && content.readUInt32BE(0) === JKS_MAGIC) {
    throw invalid(client, store, 'is a JKS store, which is not read; convert it: keytool -importkeystore -srckeystore store.jks -destkeystore store.p12 -deststoretype PKCS12')
  }
  return content
}

function invalid(client: string, store: StoreOptions, what: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `TLS of "${client}": ${store.file} ${what}`, cause })
}


/**
 * Reads the private key of a PKCS12 or PEM store as PEM.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` naming the file: unreadable, wrong password, no key, JKS.
 */
export function readStoredKey(client: string, store: StoreOptions): string {
  const content = read(client, 'key store', store)
  if (isPem(store, content)) return content.toString('utf8')
  const pki = createRequire(import.meta.url)('node-forge') as typeof forge
  let key: forge.pki.PrivateKey | undefined
  try {
    const file = pki.pkcs12.pkcs12FromAsn1(pki.asn1.fromDer(content.toString('binary')), store.password?.reveal() ?? '')
    const [shrouded, plain] = [pki.pki.oids['pkcs8ShroudedKeyBag'] ?? '', pki.pki.oids['keyBag'] ?? '']
    key = file.getBags({ bagType: shrouded })[shrouded]?.[0]?.key ?? file.getBags({ bagType: plain })[plain]?.[0]?.key
  } catch (error) {
    throw invalid(client, store, 'cannot be opened: the password is wrong, or it is not PKCS12', error)
  }
  if (key === undefined) throw invalid(client, store, 'holds no RSA private key')
  return pki.pki.privateKeyToPem(key)
}
