import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate with its key, as PEM text. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

/** Issues certificates in a folder of its own. */
export interface CertificateShop {
  /** Makes an authority that signs itself. */
  authority(name: string): KeyPair
  /** Makes a leaf with alternative names such as `URI:spiffe://…`; `days` below 0 makes one that is over. */
  leaf(authority: KeyPair, names: readonly string[], days?: number): KeyPair
  close(): void
}

/** Tells whether certificates can be made here. */
export function hasOpenssl(): boolean {
  return spawnSync('openssl', ['version']).status === 0
}

/** Creates a shop that makes certificates with the openssl program; for tests only. */
export function createCertificateShop(): CertificateShop {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  let count = 0
  const run = (args: readonly string[]): void => { execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' }) }
  const path = (extension: string): string => `${String(count)}.${extension}`
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8')
  const write = (file: string, text: string): string => {
    writeFileSync(join(folder, file), text)
    return file
  }
  const newKey = (): string => {
    count += 1
    run(['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', path('key')])
    return path('key')
  }
  return {
    authority(name) {
      const key = newKey()
      run(['req', '-x509', '-new', '-key', key, '-subj', `/CN=${name}`, '-days', '2', '-out', path('crt')])
      return { certificate: read(path('crt')), key: read(key) }
    },
    leaf(authority, names, days = 2) {
      const key = newKey()
      const issuer = write(path('ca.crt'), authority.certificate)
      const issuerKey = write(path('ca.key'), authority.key)
      const extensions = write(path('ext'), `basicConstraints=CA:FALSE\n${names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`}`)
      run(['req', '-new', '-key', key, '-subj', '/O=test', '-out', path('csr')])
      run(['x509', '-req', '-in', path('csr'), '-CA', issuer, '-CAkey', issuerKey, '-set_serial', String(count), '-days', String(days), '-extfile', extensions, '-out', path('crt')])
      return { certificate: read(path('crt')), key: read(key) }
    },
    close() { rmSync(folder, { recursive: true, force: true }) },
  }
}
