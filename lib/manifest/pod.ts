import type { Json, JsonObject } from '../common/index.ts'
import { checksum, configMapVolume } from './config-map.ts'
import { selectorLabels, variable, type Component } from './documents.ts'
import type { ResolvedManifestOptions } from './options.ts'
import type { Project } from './project.ts'

/** Where an image has its project; packages of the program are found from there. */
const PROJECT_PATH = '/srv/project'

/** Directory of a store, on a volume of its own. */
export const STORE_PATH = '/var/lib/sonatina'

/** Group of the volume of a store, and the user of the image. */
const USER = 1000

/** What makes one process differ from another. */
export interface PodParts {
  readonly component?: Component
  /** Variables beside those of every process. */
  readonly environment: readonly Json[]
  readonly ports: readonly JsonObject[]
  readonly probes: JsonObject
  /** Whether the directory of the store is mounted. */
  readonly store?: boolean
}

/** Name of the Secret that holds the variables of a project. */
export function secretName({ name }: ResolvedManifestOptions): string {
  return `${name}-secrets`
}

/** Makes labels and annotations of a process. */
export function podMetadata(project: Project, options: ResolvedManifestOptions, parts: { readonly component?: Component; readonly annotations?: JsonObject }): JsonObject {
  const annotations = {
    ...parts.annotations,
    ...(options.embedded ? {} : { 'checksum/project': checksum(project) }),
    ...(options.istio ? { 'proxy.istio.io/config': '{"holdApplicationUntilProxyStarts": true}' } : {}),
  }
  return {
    labels: { ...selectorLabels(options, parts.component), ...(options.istio ? { 'sidecar.istio.io/inject': 'true' } : {}) },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}

/** Makes the template of a Deployment or StatefulSet. */
export function podTemplate(project: Project, options: ResolvedManifestOptions, parts: PodParts): JsonObject {
  return {
    metadata: podMetadata(project, options, parts.component === undefined ? {} : { component: parts.component }),
    spec: {
      automountServiceAccountToken: false,
      // Variables of services (SONATINA_PORT=tcp://…) would be read as settings.
      enableServiceLinks: false,
      terminationGracePeriodSeconds: gracePeriod(project),
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...(parts.store === true ? { fsGroup: USER } : {}) },
      containers: [container(project, options, parts)],
      volumes: volumes(project, options),
    },
  }
}

/** Makes the container of a process. */
export function container(project: Project, options: ResolvedManifestOptions, parts: PodParts): JsonObject {
  return {
    name: 'sonatina',
    image: options.image,
    args: ['serve', PROJECT_PATH],
    ports: [...parts.ports],
    env: [...environment(project, options), ...parts.environment],
    ...parts.probes,
    resources: { requests: { cpu: '100m', memory: '192Mi' }, limits: { memory: '512Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      ...(options.embedded ? [] : [{ name: 'project', mountPath: PROJECT_PATH, readOnly: true }]),
      { name: 'tmp', mountPath: '/tmp' },
      ...(parts.store === true ? [{ name: 'store', mountPath: STORE_PATH }] : []),
    ],
  }
}

/** Makes the volumes that every process has. */
export function volumes(project: Project, options: ResolvedManifestOptions): Json[] {
  return [
    ...(options.embedded ? [] : [{ name: 'project', ...configMapVolume(project, options) }]),
    { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
  ]
}

/** Makes the ports of a process that answers requests. */
export function servingPorts({ serving: { port, managementPort } }: Project): JsonObject[] {
  return [
    { name: 'http', containerPort: port },
    ...(managementPort === undefined ? [] : [{ name: 'management', containerPort: managementPort }]),
  ]
}

/** Makes the probes of a process that answers requests. */
export function servingProbes(project: Project): JsonObject {
  return {
    startupProbe: { ...probe(project, 'started'), periodSeconds: 2, failureThreshold: 60, timeoutSeconds: 2 },
    readinessProbe: { ...probe(project, 'ready'), periodSeconds: 5, failureThreshold: 2, timeoutSeconds: 2 },
    livenessProbe: { ...probe(project, 'live'), periodSeconds: 10, failureThreshold: 3, timeoutSeconds: 5 },
  }
}

function probe({ serving }: Project, check: string): JsonObject {
  const port = serving.managementPort === undefined ? 'http' : 'management'
  if (serving.probe === 'tcp') return { tcpSocket: { port } }
  return { httpGet: { path: `${serving.rootPath}/q/health/${check}`, port, scheme: serving.probe.toUpperCase() } }
}

/** A stop first listens on, so that the cluster learns of it, then finishes what runs; the rest is for closing. */
function gracePeriod({ serving }: Project): number {
  return Math.ceil(((serving.shutdownDelay ?? DEFAULT_DELAY) + serving.shutdownTimeout) / 1000) + 10
}

/** Milliseconds. */
const DEFAULT_DELAY = 5000

function environment(project: Project, options: ResolvedManifestOptions): Json[] {
  return [
    variable('SONATINA_CONFIG_PROFILE', project.profile),
    variable('SONATINA_HTTP_HOST', '0.0.0.0'),
    ...(project.serving.shutdownDelay !== undefined || options.knative ? [] : [variable('SONATINA_SHUTDOWN_DELAY', `${String(DEFAULT_DELAY / 1000)}s`)]),
    ...project.variables.map((name) => ({ name, valueFrom: { secretKeyRef: { name: secretName(options), key: name } } })),
  ]
}
