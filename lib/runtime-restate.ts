import { ConfigurationError } from './errors/index.ts'
import type { Settings } from './configuration/index.ts'
import type { DeployedWorkflow, KernelOptions, RunningHost, StoredDefinition } from './hosts/index.ts'
import { createRestateHost, type RestateHostOptions } from './hosts/restate/index.ts'

/** What the distributed host is made from beside its settings. */
export interface EngineHostParts {
  readonly kernel: KernelOptions
  readonly keep: RestateHostOptions['keep']
  readonly redeploy: (stored: StoredDefinition) => Promise<DeployedWorkflow>
}

/**
 * Creates the host of `sonatina.store=restate` (docs/restate.md).
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_MISSING` without the address of the engine, `CONFIGURATION_INVALID` for one that is none
 */
export function createEngineHost(settings: Settings, { kernel, keep, redeploy }: EngineHostParts): RunningHost {
  const ingressUrl = urlOf(settings, 'sonatina.restate.ingress-url')
  if (ingressUrl === undefined) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_MISSING',
      message: `sonatina.store=restate needs the address of the engine's ingress: ${settings.describeMissing(['sonatina.restate.ingress-url'])}`,
    })
  }
  const advertisedUrl = urlOf(settings, 'sonatina.restate.advertised-url')
  return createRestateHost({
    ...kernel,
    keep,
    redeploy,
    ingressUrl,
    adminUrl: urlOf(settings, 'sonatina.restate.admin-url') ?? adminBeside(ingressUrl),
    namespace: settings.text('sonatina.restate.namespace', 'sonatina'),
    role: roleOf(settings.text('sonatina.restate.role', 'both')),
    worker: {
      listen: addressOf(settings.text('sonatina.restate.listen', '127.0.0.1:9080')),
      register: settings.boolean('sonatina.restate.register', true),
      ...(advertisedUrl === undefined ? {} : { advertisedUrl }),
    },
  })
}

function urlOf(settings: Settings, key: string): string | undefined {
  const text = settings.text(key)
  if (text === undefined || (URL.canParse(text) && /^https?:/.test(text))) return text
  throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${key} is "${text}", which is no http address; write for instance http://restate:8080` })
}

/** The port that the engine's admin API has unless it is told otherwise. */
function adminBeside(ingressUrl: string): string {
  const url = new URL(ingressUrl)
  url.port = '9070'
  return url.origin
}

function roleOf(text: string): RestateHostOptions['role'] {
  return text === 'front' || text === 'worker' ? text : 'both'
}

function addressOf(text: string): { readonly host: string; readonly port: number } {
  const parts = /^(?:(.*):)?(\d{1,5})$/.exec(text)
  const port = Number(parts?.[2])
  if (parts !== null && port <= 65_535) return { host: (parts[1] ?? '').replace(/^\[(.*)\]$/, '$1') || '127.0.0.1', port }
  throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `sonatina.restate.listen is "${text}", which is no address; write HOST:PORT, for instance 0.0.0.0:9080` })
}
