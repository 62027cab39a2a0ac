import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

// Peers are measured and never shipped: the bench installs them beside the packages of the repository when it is run first.

const PEERS: Readonly<Record<string, string>> = { fastify: '5', 'aws-local-stepfunctions': '3' }
const folder = new URL('../../node_modules/.cache/bench-peers/', import.meta.url)

/** Installs the peers where they are not there yet. Gives the reason when that does not succeed: they are then left out, loudly. */
export function installPeers(): string | undefined {
  if (Object.keys(PEERS).every((name) => existsSync(new URL(`node_modules/${name}/package.json`, folder)))) return undefined
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('package.json', folder), `${JSON.stringify({ name: 'bench-peers', private: true, dependencies: PEERS })}\n`)
  const installed = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], { cwd: folder, encoding: 'utf8' })
  return installed.status === 0 ? undefined : `npm install ended with ${String(installed.status)}: ${installed.stderr.trim()}`
}

/** Imports a peer. @throws when it is not installed */
export async function loadPeer(name: string): Promise<unknown> {
  const path = createRequire(folder).resolve(name)
  return await import(pathToFileURL(path).href) as unknown
}
