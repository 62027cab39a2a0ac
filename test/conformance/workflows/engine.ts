import type { Clock } from '../../../lib/common/index.ts'
import { restateBinary, startRestateServer, type RestateServer } from '../../support/restate-server.ts'
import { CaseFault } from './case-fault.ts'

let server: Promise<RestateServer> | undefined
const namespaces = new WeakMap<Clock, string>()
let cases = 0

/** Ends the engine, if a case has started it. */
export async function closeEngine(): Promise<void> {
  await (await server)?.close()
  server = undefined
}

/** Gives settings that ask for the distributed engine one that runs, with a namespace for each case, which its clock stands for: cases do not see each other. */
export async function withEngine(settings: Readonly<Record<string, unknown>>, clock: Clock): Promise<Readonly<Record<string, unknown>>> {
  const store = settings['sonatina.store'] ?? settings['sonatina.host.engine']
  if (store !== 'restate' || settings['sonatina.restate.ingress-url'] !== undefined) return settings
  const binary = restateBinary()
  if (binary === undefined) throw new CaseFault('the engine is not installed')
  server ??= startRestateServer({ binary })
  const namespace = namespaces.get(clock) ?? `case${String(++cases)}`
  namespaces.set(clock, namespace)
  return { ...(await server).settings(namespace), ...settings }
}
