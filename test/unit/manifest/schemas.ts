import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import ts from 'typescript'
import type { KubernetesDocument } from '../../../lib/manifest/index.ts'

/** Module and name of the model of each kind that is printed. */
const MODELS: Readonly<Record<string, readonly [module: string, name: string]>> = {
  'v1 ConfigMap': ['kubernetes-models/v1', 'ConfigMap'],
  'v1 Secret': ['kubernetes-models/v1', 'Secret'],
  'v1 Service': ['kubernetes-models/v1', 'Service'],
  'apps/v1 Deployment': ['kubernetes-models/apps/v1', 'Deployment'],
  'apps/v1 StatefulSet': ['kubernetes-models/apps/v1', 'StatefulSet'],
  'serving.knative.dev/v1 Service': ['@kubernetes-models/knative/serving.knative.dev/v1', 'Service'],
  'sources.knative.dev/v1 SinkBinding': ['@kubernetes-models/knative/sources.knative.dev/v1', 'SinkBinding'],
  'eventing.knative.dev/v1 Trigger': ['@kubernetes-models/knative/eventing.knative.dev/v1', 'Trigger'],
  'eventing.knative.dev/v1 Broker': ['@kubernetes-models/knative/eventing.knative.dev/v1', 'Broker'],
}

type Model = new (document: object) => { validate(): void }

const requireModel = createRequire(import.meta.url)

function modelOf({ apiVersion, kind }: KubernetesDocument): readonly [string, string] {
  const found = MODELS[`${apiVersion} ${kind}`]
  if (found === undefined) throw new Error(`no schema is known for ${apiVersion} ${kind}`)
  return found
}

/** Checks documents against the schemas of Kubernetes and Knative; gives what is wrong. */
export function schemaFaults(documents: readonly KubernetesDocument[]): string[] {
  return documents.flatMap((document) => {
    const [module, name] = modelOf(document)
    const Found = (requireModel(module) as Record<string, Model>)[name]
    try {
      if (Found === undefined) return [`${module} has no ${name}`]
      new Found(document).validate()
      // The schema of a binding takes its status for required, which nobody writes.
      return []
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return message === 'data must have required property status' ? [] : [`${document.kind}: ${message}`]
    }
  })
}

/** Finds fields that Kubernetes and Knative do not know, which their schemas let pass: the compiler refuses them in literals. */
export function unknownFields(documents: readonly KubernetesDocument[]): string[] {
  const file = resolve('test/unit/manifest/generated-documents.ts')
  const text = documents.map((document, index) => {
    const [module, name] = modelOf(document)
    return `import type { I${name} as Model${String(index)} } from '${module}'\nexport const document${String(index)}: Omit<Model${String(index)}, 'status'> = ${JSON.stringify(document, undefined, 1)}\n`
  }).join('')
  const options: ts.CompilerOptions = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, strict: true, skipLibCheck: true, noEmit: true, types: [] }
  const host = ts.createCompilerHost(options)
  const withText: ts.CompilerHost = {
    ...host,
    fileExists: (name) => name === file || host.fileExists(name),
    getSourceFile: (name, ...rest) => (name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022) : host.getSourceFile(name, ...rest)),
  }
  const program = ts.createProgram([file], options, withText)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
