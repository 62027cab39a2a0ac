import { ConfigurationError } from '../errors/index.ts'
import type { Project, Storage } from './project.ts'

/** What the documents of a project are to be like. */
export interface ManifestOptions {
  /** Image that holds the program. */
  readonly image: string
  /** Name of every document. @default the name of the project directory */
  readonly name?: string
  /** @default none: that of whoever applies the documents */
  readonly namespace?: string
  /** Processes that answer requests. @default 1 */
  readonly replicas?: number
  /** Where instances are kept. @default what the settings say, else sqlite when an instance can wait, else memory */
  readonly storage?: Storage
  /** Size of the volume of a store. @default '1Gi' */
  readonly storageSize?: string
  /** A Knative service in the place of Deployment and Service, with binding and triggers. @default false */
  readonly knative?: boolean
  /** Binding and triggers of Knative Eventing. @default with `knative` */
  readonly eventing?: boolean
  /** Broker that events come from and go to. @default 'default' */
  readonly broker?: string
  /** Marks for the sidecar of Istio. @default false */
  readonly istio?: boolean
  /** The image holds the project too: no ConfigMap. @default false */
  readonly embedded?: boolean
}

/** {@link ManifestOptions} with nothing left open. */
export interface ResolvedManifestOptions extends Required<Omit<ManifestOptions, 'namespace' | 'storageSize'>> {
  readonly namespace: string | undefined
  readonly storageSize: string
}

/**
 * Fills in what options leave open, and refuses what cannot work together.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` saying what does not fit and what would
 */
export function resolveManifestOptions(options: ManifestOptions, project: Project): ResolvedManifestOptions {
  const knative = options.knative ?? false
  const resolved: ResolvedManifestOptions = {
    image: options.image,
    name: options.name ?? toLabel(project.name),
    namespace: options.namespace,
    replicas: options.replicas ?? 1,
    storage: options.storage ?? project.storage ?? (project.waiting.length > 0 ? 'sqlite' : 'memory'),
    storageSize: options.storageSize ?? '1Gi',
    knative,
    eventing: options.eventing ?? knative,
    broker: options.broker ?? 'default',
    istio: options.istio ?? false,
    embedded: options.embedded ?? false,
  }
  assertForms(resolved)
  assertFit(resolved, project, options.storage !== undefined)
  return resolved
}

/** Makes a name of Kubernetes from any text: lower case, `-` for what is not allowed; 'sonatina' when nothing is left. */
function toLabel(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 40).replace(/^[^a-z]+|-+$/g, '') || 'sonatina'
}

// Names of services: a letter first (RFC 1035); room is left for what is added to a name.
const NAME = /^[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?$/
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const IMAGE = /^[a-z0-9][\w.-]*(?::\d+)?(?:\/[\w.-]+)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/
const QUANTITY = /^[1-9]\d*(?:Ki|Mi|Gi|Ti|k|M|G|T)?$/

function assertForms({ name, namespace, image, replicas, storageSize, broker }: ResolvedManifestOptions): void {
  if (!NAME.test(name)) throw refusal(`"${name}" is no name for a service: lower-case letters, digits and -, a letter first, at most 40 characters`)
  if (namespace !== undefined && !NAMESPACE.test(namespace)) throw refusal(`"${namespace}" is no namespace: lower-case letters, digits and -, at most 63 characters`)
  if (!NAMESPACE.test(broker)) throw refusal(`"${broker}" is no name of a broker: lower-case letters, digits and -, at most 63 characters`)
  if (!IMAGE.test(image)) throw refusal(`"${image}" is no image; write it like registry.example.org/sonatina:0.1.0`)
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > 1000) throw refusal(`${String(replicas)} replicas are not possible; give a number from 1 to 1000`)
  if (!QUANTITY.test(storageSize)) throw refusal(`"${storageSize}" is no size of a volume; write it like 1Gi`)
}

function assertFit({ storage, replicas, knative }: ResolvedManifestOptions, { waiting, hasEngine }: Project, isChosen: boolean): void {
  if (storage === 'restate' && !hasEngine) {
    throw refusal('The storage restate needs the address of the engine in the cluster: -Dsonatina.restate.ingress-url=http://restate:8080, or in the settings of the project')
  }
  if (storage === 'sqlite' && replicas > 1) {
    throw refusal(`${String(replicas)} replicas do not fit the storage sqlite: one process owns its file. Use --storage restate, or --storage memory when instances may be lost`)
  }
  if (knative && storage === 'sqlite') {
    const reason = waiting.length > 0 && !isChosen ? ` (instances of ${waiting.join(', ')} wait, so they are kept)` : ''
    throw refusal(`--knative does not fit the storage sqlite${reason}: Knative runs several processes and stops idle ones. Use --storage restate, or --storage memory when instances may be lost`)
  }
}

function refusal(message: string): ConfigurationError {
  return new ConfigurationError({ code: 'CONFIGURATION_INVALID', message })
}
