import type { JsonObject } from '../common/index.ts'
import { document, selectorLabels, variable, type Component, type KubernetesDocument } from './documents.ts'
import type { ResolvedManifestOptions } from './options.ts'
import { podTemplate, servingPorts, servingProbes, STORE_PATH, type PodParts } from './pod.ts'
import type { Project } from './project.ts'

/** Makes the Deployment of processes that keep nothing. */
export function deployment(project: Project, options: ResolvedManifestOptions, parts: PodParts & { readonly name?: string }): KubernetesDocument {
  const { component, name } = parts
  return document('apps/v1 Deployment', options, {
    ...named(name, component),
    body: {
      spec: {
        replicas: options.replicas,
        selector: { matchLabels: selectorLabels(options, component) },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template: podTemplate(project, options, parts),
      },
    },
  })
}

/** Makes what a process with instances in memory differs by. */
export function memoryParts(project: Project): PodParts {
  return { environment: [variable('SONATINA_STORE', 'memory')], ports: servingPorts(project), probes: servingProbes(project) }
}

/** Port on which a worker listens for the distributed engine. */
const ENGINE_PORT = 9080

/** Name of the workers of a project. */
export function workerName({ name }: ResolvedManifestOptions): string {
  return `${name}-worker`
}

/** Makes what a process differs by that takes requests and leaves instances to workers. */
export function frontParts(project: Project): PodParts {
  return {
    component: 'front',
    environment: [variable('SONATINA_STORE', 'restate'), variable('SONATINA_RESTATE_ROLE', 'front')],
    ports: servingPorts(project),
    probes: servingProbes(project),
  }
}

/** Makes the Deployment of the processes that carry instances out, and the Service under which the engine reaches them. */
export function workers(project: Project, options: ResolvedManifestOptions): KubernetesDocument[] {
  const name = workerName(options)
  const host = options.namespace === undefined ? name : `${name}.${options.namespace}`
  const parts: PodParts = {
    component: 'worker',
    environment: [
      variable('SONATINA_STORE', 'restate'),
      variable('SONATINA_RESTATE_ROLE', 'worker'),
      variable('SONATINA_RESTATE_LISTEN', `0.0.0.0:${String(ENGINE_PORT)}`),
      variable('SONATINA_RESTATE_ADVERTISED_URL', `http://${host}:${String(ENGINE_PORT)}`),
    ],
    ports: [...servingPorts(project), { name: 'engine', containerPort: ENGINE_PORT }],
    probes: servingProbes(project),
  }
  const body = { spec: { selector: selectorLabels(options, 'worker'), ports: [port('engine', ENGINE_PORT, 'engine')] } }
  return [deployment(project, options, { ...parts, name }), document('v1 Service', options, { name, component: 'worker', body })]
}

/** Makes the StatefulSet of one process with its store on a volume: it is stopped before another is started. */
export function statefulSet(project: Project, options: ResolvedManifestOptions): KubernetesDocument {
  const parts: PodParts = {
    environment: [variable('SONATINA_STORE', 'sqlite'), variable('SONATINA_STORE_SQLITE_FILE', `${STORE_PATH}/sonatina.db`)],
    ports: servingPorts(project),
    probes: servingProbes(project),
    store: true,
  }
  return document('apps/v1 StatefulSet', options, {
    body: {
      spec: {
        replicas: 1,
        serviceName: options.name,
        selector: { matchLabels: selectorLabels(options) },
        template: podTemplate(project, options, parts),
        volumeClaimTemplates: [{
          metadata: { name: 'store' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: options.storageSize } } },
        }],
      },
    },
  })
}

/** Makes the Service under which a project is reached. */
export function service(project: Project, options: ResolvedManifestOptions, component?: Component): KubernetesDocument {
  const { isTls, managementPort } = project.serving
  return document('v1 Service', options, {
    ...named(undefined, component),
    body: {
      spec: {
        selector: selectorLabels(options, component),
        ports: [
          isTls ? port('https', 443, 'http') : port('http', 80, 'http'),
          ...(managementPort === undefined ? [] : [port('management', managementPort, 'management')]),
        ],
      },
    },
  })
}

function port(name: string, number: number, targetPort: string): JsonObject {
  return { name, port: number, targetPort }
}

function named(name: string | undefined, component: Component | undefined): { name?: string; component?: Component } {
  return { ...(name === undefined ? {} : { name }), ...(component === undefined ? {} : { component }) }
}
