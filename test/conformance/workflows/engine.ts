import { restateBinary, startRestateServer, type RestateServer } from '../../support/restate-server.ts'
import { CaseFault } from './case-fault.ts'

let server: Promise<RestateServer> | undefined
const namespaces = new Map<string, string>()

/** Gives settings that ask for the distributed engine one that runs, with a namespace for each project: cases do not see each other. */
export async function withEngine(settings: Readonly<Record<string, unknown>>, root: string): Promise<Readonly<Record<string, unknown>>> {
  const store = settings['sonatina.store'] ?? settings['sonatina.host.engine']
  if (store !== 'restate' || settings['sonatina.restate.ingress-url'] !== undefined) return settings
  const binary = restateBinary()
  if (binary === undefined) throw new CaseFault('the engine is not installed')
  server ??= startRestateServer({ binary })
  const namespace = namespaces.get(root) ?? `case${String(namespaces.size)}`
  namespaces.set(root, namespace)
  return { ...(await server).settings(namespace), ...settings }
}
