import type { JsonObject } from '../common/index.ts'
import { document, type KubernetesDocument } from './documents.ts'
import type { ResolvedManifestOptions } from './options.ts'
import { container, podMetadata, volumes, type PodParts } from './pod.ts'
import type { ConsumedEvent, Project } from './project.ts'

/** Makes the Knative service of processes that keep nothing; Knative chooses the port by the variable `PORT`. */
export function knativeService(project: Project, options: ResolvedManifestOptions, parts: PodParts): KubernetesDocument {
  return document('serving.knative.dev/v1 Service', options, {
    ...(parts.component === undefined ? {} : { component: parts.component }),
    body: {
      spec: {
        template: {
          metadata: podMetadata(project, options, { ...(parts.component === undefined ? {} : { component: parts.component }), annotations: scaling(project, options) }),
          spec: {
            enableServiceLinks: false,
            containers: [container(project, options, { ...parts, ports: [{ containerPort: project.serving.port }], probes: probes(project) })],
            volumes: volumes(project, options),
          },
        },
      },
    },
  })
}

// Instances that wait in memory end with their process, and no other process knows them.
function scaling({ waiting }: Project, { storage, replicas }: ResolvedManifestOptions): JsonObject {
  const least = { 'autoscaling.knative.dev/min-scale': String(replicas) }
  if (storage === 'memory' && waiting.length > 0) return { ...least, 'autoscaling.knative.dev/max-scale': String(replicas) }
  return replicas > 1 ? least : {}
}

/** Knative probes the port that it serves, so the port is not named. */
function probes({ serving }: Project): JsonObject {
  const check = (name: string): JsonObject => (serving.probe === 'tcp' || serving.managementPort !== undefined ? { tcpSocket: {} } : { httpGet: { path: `${serving.rootPath}/q/health/${name}` } })
  return { readinessProbe: check('ready'), livenessProbe: check('live') }
}

/** Makes the binding that tells processes where the events go that they produce (`K_SINK`). */
export function sinkBinding(options: ResolvedManifestOptions, subject: JsonObject): KubernetesDocument {
  return document('sources.knative.dev/v1 SinkBinding', options, {
    body: { spec: { subject, sink: { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: options.broker } } } },
  })
}

/** Makes a trigger for each kind of event that definitions consume. */
export function triggers(project: Project, options: ResolvedManifestOptions, subscriber: JsonObject): KubernetesDocument[] {
  const names = new Set<string>()
  return project.consumed.map((event) => document('eventing.knative.dev/v1 Trigger', options, {
    name: triggerName(options.name, event, names),
    body: {
      spec: {
        broker: options.broker,
        filter: { attributes: { type: event.type, ...(event.source === undefined ? {} : { source: event.source }) } },
        subscriber: { ref: subscriber, ...(event.path === '/' ? {} : { uri: event.path }) },
      },
    },
  }))
}

/** Event types are free text: what is no part of a name becomes `-`, and equal names are counted. */
function triggerName(name: string, { type }: ConsumedEvent, names: Set<string>): string {
  const plain = `${name}-${type.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')}`.slice(0, 59).replace(/-$/, '')
  let unique = plain
  for (let count = 2; names.has(unique); count += 1) unique = `${plain}-${String(count)}`
  names.add(unique)
  return unique
}
