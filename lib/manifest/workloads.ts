import type { JsonObject } from '../common/index.ts'
import { document, selectorLabels, variable, type Component, type KubernetesDocument } from './documents.ts'
import type { ResolvedManifestOptions } from './options.ts'
import { podTemplate, servingPorts, servingProbes, STORE_PATH, type PodParts } from './pod.ts'
import type { Project } from './project.ts'

/** Makes the Deployment of processes that keep nothing. */
export function deployment(project: Project, options: ResolvedManifestOptions, parts: PodParts & { readonly name?: string; readonly replicas?: number }): KubernetesDocument {
  const { component, name, replicas = options.replicas } = parts
  return document('apps/v1 Deployment', options, {
    ...named(name, component),
    body: {
      spec: {
        replicas,
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
