import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import forge from 'node-forge'

/** A certificate with its key, as PEM. */
export interface Certificate {
  readonly certificate: forge.pki.Certificate
  readonly key: forge.pki.rsa.PrivateKey
  readonly pem: { readonly certificate: string; readonly key: string }
}

/** Makes a certificate; without an issuer it is an authority of its own. */
export function createCertificate(name: string, options: { readonly issuer?: Certificate; readonly addresses?: readonly string[] } = {}): Certificate {
  // Node makes keys a hundred times faster than forge does.
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs1', format: 'pem' } })
  const key = forge.pki.privateKeyFromPem(pair.privateKey)
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey)
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`
  certificate.validity.notBefore = new Date(Date.now() - 86_400_000)
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000)
  certificate.setSubject([{ name: 'commonName', value: name }])
  certificate.setIssuer(options.issuer ? options.issuer.certificate.subject.attributes : [{ name: 'commonName', value: name }])
  const extensions: object[] = [{ name: 'basicConstraints', cA: options.issuer === undefined, critical: true }]
  if (options.addresses) extensions.push({ name: 'subjectAltName', altNames: options.addresses.map((address) => (/^[\d.]+$/.test(address) ? { type: 7, ip: address } : { type: 2, value: address })) })
  certificate.setExtensions(extensions)
  certificate.sign(options.issuer?.key ?? key, forge.md.sha256.create())
  return { certificate, key, pem: { certificate: forge.pki.certificateToPem(certificate), key: forge.pki.privateKeyToPem(key) } }
}

/** Writes a PKCS12 store; without a key it is a trust store. */
export async function writePkcs12(directory: string, name: string, store: { readonly key?: Certificate; readonly certificates: readonly Certificate[]; readonly password: string }): Promise<string> {
  const asn1 = forge.pkcs12.toPkcs12Asn1(store.key ? store.key.key : null, store.certificates.map(({ certificate }) => certificate), store.password, { algorithm: 'aes256' })
  const file = join(directory, name)
  await writeFile(file, Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary'))
  return file
}

/** Writes PEM texts into one file. */
export async function writePem(directory: string, name: string, ...texts: readonly string[]): Promise<string> {
  const file = join(directory, name)
  await writeFile(file, texts.join('\n'))
  return file
}
