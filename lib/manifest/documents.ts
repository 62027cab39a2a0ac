import type { Json, JsonObject } from '../common/index.ts'
import type { ResolvedManifestOptions } from './options.ts'

/** A document of Kubernetes. */
export interface KubernetesDocument extends JsonObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: JsonObject
}

/** What parts of the product a process carries out, when they are more than one. */
export type Component = 'front' | 'worker'

/** Labels that select the processes of a project. */
export function selectorLabels({ name }: ResolvedManifestOptions, component?: Component): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': name, ...(component === undefined ? {} : { 'app.kubernetes.io/component': component }) }
}

/** Makes the head and body of a document; its type is written `<apiVersion> <kind>`. */
export function document(type: `${string} ${string}`, options: ResolvedManifestOptions, parts: { readonly name?: string; readonly component?: Component; readonly body: JsonObject }): KubernetesDocument {
  const { namespace } = options
  const [apiVersion = '', kind = ''] = type.split(' ')
  return {
    apiVersion,
    kind,
    metadata: {
      name: parts.name ?? options.name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...selectorLabels(options, parts.component), 'app.kubernetes.io/managed-by': 'sonatina' },
    },
    ...parts.body,
  }
}

/** Makes an environment variable with a value. */
export function variable(name: string, value: string): Json {
  return { name, value }
}
