import { createManifest, readProject, renderManifest, type ManifestOptions, type Storage } from '../../manifest/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, parseSettings, readDirectory, usageError } from '../usage.ts'

const HELP = `sonatina manifest [DIRECTORY] --image IMAGE [options]

Prints the Kubernetes documents of a project directory as YAML: its files as a ConfigMap, the processes, the service.
Secrets are never printed: the documents refer to a Secret, and the head of the output names its keys.

  --image IMAGE         image that holds sonatina                    (see docs/packaging.md)
  --name NAME           name of the documents                        (the name of the directory)
  --namespace NAME      namespace of the documents                   (that of whoever applies them)
  --replicas NUMBER     processes                                    (1)
  --storage KIND        memory, sqlite or restate                    (what the settings say, else sqlite when an instance can wait)
  --storage-size SIZE   volume of the store                          (1Gi)
  --embedded            the image holds the project too: no ConfigMap
  --knative             a Knative service, with binding and triggers for the events of the definitions
  --eventing            binding and triggers for a Deployment or StatefulSet
  --broker NAME         broker that events come from and go to       (default)
  --istio               marks for the sidecar of Istio; policies come from sonatina policies
  --profile NAME        configuration profile                        (prod)
  --set KEY=VALUE       a setting; also -DKEY=VALUE; repeatable
  --help                this text

Exit code 0: printed; 1: the project or the options do not allow it; 2: called wrongly.`

const STORAGES: readonly Storage[] = ['memory', 'sqlite', 'restate']

/** Runs `sonatina manifest`. @throws UsageError for wrong arguments; {@link ConfigurationError} and {@link DefinitionError} of the project */
export async function manifestCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    image: { type: 'string' },
    name: { type: 'string' },
    namespace: { type: 'string' },
    replicas: { type: 'string' },
    storage: { type: 'string' },
    'storage-size': { type: 'string' },
    embedded: { type: 'boolean' },
    knative: { type: 'boolean' },
    eventing: { type: 'boolean' },
    broker: { type: 'string' },
    istio: { type: 'boolean' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  const options = readOptions(values)
  const project = await readProject({
    root: await projectDirectory(positionals, io.cwd),
    arguments: Object.entries(parseSettings((values['set'] ?? []) as readonly string[])).map(([key, value]) => `${key}=${value}`),
    ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}),
  })
  const manifest = createManifest(project, options)
  for (const warning of manifest.warnings) io.err(`warning: ${warning}`)
  io.out(renderManifest(manifest).trimEnd())
  return 0
}

function projectDirectory(positionals: readonly string[], cwd: string): Promise<string> {
  const [place, ...others] = positionals
  if (others.length > 0) throw usageError(`one project directory at a time; "${others.join('", "')}" is too much`)
  return readDirectory(place, cwd)
}

function readOptions(values: ReturnType<typeof parseArguments>['values']): ManifestOptions {
  const text = (name: string): string | undefined => (typeof values[name] === 'string' ? values[name] : undefined)
  const image = text('image')
  if (image === undefined) throw usageError('--image is missing: the image that holds sonatina, such as registry.example.org/sonatina:0.1.0')
  const [name, namespace, replicas, storage, storageSize, broker] = ['name', 'namespace', 'replicas', 'storage', 'storage-size', 'broker'].map(text)
  return {
    image,
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(replicas === undefined ? {} : { replicas: readReplicas(replicas) }),
    ...(storage === undefined ? {} : { storage: readStorage(storage) }),
    ...(storageSize === undefined ? {} : { storageSize }),
    ...(broker === undefined ? {} : { broker }),
    embedded: values['embedded'] === true,
    knative: values['knative'] === true,
    ...(values['eventing'] === true ? { eventing: true } : {}),
    istio: values['istio'] === true,
  }
}

function readReplicas(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw usageError(`--replicas ${text} is no number`)
}

function readStorage(text: string): Storage {
  const found = STORAGES.find((storage) => storage === text)
  if (found === undefined) throw usageError(`--storage ${text} is none of ${STORAGES.join(', ')}`)
  return found
}
