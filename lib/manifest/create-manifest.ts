import type { JsonObject } from '../common/index.ts'
import { configMap } from './config-map.ts'
import type { KubernetesDocument } from './documents.ts'
import { knativeService, sinkBinding, triggers } from './knative.ts'
import { resolveManifestOptions, type ManifestOptions, type ResolvedManifestOptions } from './options.ts'
import { secretName } from './pod.ts'
import type { Project } from './project.ts'
import { deployment, frontParts, memoryParts, service, statefulSet, workerName, workers } from './workloads.ts'

/** The documents of a project with what has to be known beside them. */
export interface Manifest {
  /** In the order in which they are applied. */
  readonly documents: readonly KubernetesDocument[]
  /** The Secret that has to be there, with its keys; absent when the project has no secrets. */
  readonly secret?: { readonly name: string; readonly keys: readonly string[] }
  /** Things to take care of, as sentences. */
  readonly warnings: readonly string[]
}

/**
 * Makes the Kubernetes documents of a project. Pure: equal projects and options give equal documents.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` when options do not fit each other or the project
 */
export function createManifest(project: Project, options: ManifestOptions): Manifest {
  const resolved = resolveManifestOptions(options, project)
  const documents = [
    ...(resolved.embedded ? [] : [configMap(project, resolved)]),
    ...workloads(project, resolved),
    ...(resolved.eventing ? eventing(project, resolved) : []),
  ]
  return {
    documents,
    ...(project.variables.length === 0 ? {} : { secret: { name: secretName(resolved), keys: project.variables } }),
    warnings: [...project.warnings, ...warningsOf(project, resolved)],
  }
}

function workloads(project: Project, options: ResolvedManifestOptions): KubernetesDocument[] {
  const isDistributed = options.storage === 'restate'
  const parts = isDistributed ? frontParts(project) : memoryParts(project)
  const others = isDistributed ? workers(project, options) : []
  if (options.knative) return [knativeService(project, options, parts), ...others]
  if (options.storage === 'sqlite') return [statefulSet(project, options), service(project, options)]
  return [deployment(project, options, parts), service(project, options, parts.component), ...others]
}

function eventing(project: Project, options: ResolvedManifestOptions): KubernetesDocument[] {
  const { name } = options
  const served = options.knative ? { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name } : { apiVersion: 'v1', kind: 'Service', name }
  return [...(project.producesEvents ? [sinkBinding(options, producer(options))] : []), ...triggers(project, options, served)]
}

/** The processes that send events: those that carry instances out. */
function producer(options: ResolvedManifestOptions): JsonObject {
  if (options.storage === 'restate') return { apiVersion: 'apps/v1', kind: 'Deployment', name: workerName(options) }
  if (options.knative) return { apiVersion: 'serving.knative.dev/v1', kind: 'Service', name: options.name }
  return { apiVersion: 'apps/v1', kind: options.storage === 'sqlite' ? 'StatefulSet' : 'Deployment', name: options.name }
}

function warningsOf({ waiting, serving }: Project, { storage, replicas, knative }: ResolvedManifestOptions): readonly string[] {
  const ids = waiting.join(', ')
  return [
    ...(storage !== 'memory' || waiting.length === 0 ? [] : [`instances of ${ids} wait in the memory of a process and end with it`]),
    ...(storage !== 'memory' || waiting.length === 0 || replicas === 1 ? [] : ['an instance is known to the process that started it only: its address and its events reach one of several processes']),
    ...(knative && serving.managementPort !== undefined ? ['Knative serves one port: sonatina.management.port is reached inside the process only'] : []),
  ]
}
