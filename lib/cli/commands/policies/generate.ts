import { parseArgs } from 'node:util'
import {
  compareFiles,
  generateMesh,
  generateSystem,
  generateTenant,
  headerOf,
  renderFiles,
  renderStream,
  resolveInputs,
  resolveValues,
  writeFiles,
  type PolicyDocument,
  type RenderedFile,
  type RenderFormat,
  type ResolvedInputs,
} from '../../../tenancy/index.ts'
import { badUsage, COMMON_OPTIONS, loadInputs, oneOf, printJson, type PoliciesIo } from './shared.ts'

const OPTIONS = {
  ...COMMON_OPTIONS,
  name: { type: 'string' },
  namespaces: { type: 'string' },
  file: { type: 'string', short: 'f' },
  system: { type: 'boolean' },
  mesh: { type: 'string' },
  'chart-version': { type: 'string' },
  'istio-namespace': { type: 'string' },
  strict: { type: 'boolean' },
  'allow-platform-namespaces': { type: 'boolean' },
  out: { type: 'string' },
  check: { type: 'boolean' },
  format: { type: 'string' },
} as const

/** Documents with what they were made from, which their head tells. */
interface Generated {
  readonly documents: readonly PolicyDocument[]
  readonly inputs: Parameters<typeof headerOf>[0]
}

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values']

/** Runs `policies generate`: the documents of tenants, with `--system` those of the cluster before them. */
export async function generateCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const hasTenants = values.file !== undefined || values.name !== undefined || values.namespaces !== undefined
  if (!hasTenants && values.system === true) return emit({ documents: systemDocuments(values, []), inputs: { values: sharedOnly(values) } }, values, io)
  const inputs = await readInputs(values, io)
  const isStrict = values.strict ?? false
  const documents = [
    ...(values.system === true ? generateSystem(inputs.values) : []),
    ...meshDocuments(values, inputs),
    ...inputs.tenants.flatMap((tenant) => generateTenant(tenant, inputs.values, { strict: isStrict })),
  ]
  return emit({ documents, inputs }, values, io)
}

/** Runs `policies system`: the documents that a cluster needs once. */
export async function systemCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const inputs: Pick<ResolvedInputs, 'values'> & Partial<ResolvedInputs> = values.file === undefined ? { values: sharedOnly(values) } : await readInputs(values, io)
  return emit({ documents: systemDocuments(values, inputs.tenants ?? [], inputs.values), inputs: { values: inputs.values } }, values, io)
}

function sharedOnly(values: Values): ResolvedInputs['values'] {
  return resolveValues(sharedOptions(values), 'options', versionOf(values))
}

function systemDocuments(values: Values, tenants: ResolvedInputs['tenants'], resolved = sharedOnly(values)): PolicyDocument[] {
  return [...generateSystem(resolved), ...meshDocuments(values, { tenants, values: resolved })]
}

function meshDocuments(values: Values, inputs: ResolvedInputs): PolicyDocument[] {
  const mesh = oneOf('mesh', values.mesh, ['istio', 'openshift'])
  return mesh === undefined ? [] : generateMesh(mesh, inputs.values, inputs.tenants)
}

function versionOf(values: Values): { chartVersion?: string } {
  return values['chart-version'] === undefined ? {} : { chartVersion: values['chart-version'] }
}

function sharedOptions(values: Values): Record<string, string> {
  return {
    ...(values['istio-namespace'] === undefined ? {} : { istioNamespace: values['istio-namespace'] }),
    ...(values['trust-domain'] === undefined ? {} : { trustDomain: values['trust-domain'] }),
  }
}

async function readInputs(values: Values, io: PoliciesIo): Promise<ResolvedInputs> {
  const options = { ...versionOf(values), allowPlatformNamespaces: values['allow-platform-namespaces'] ?? false }
  if (values.file !== undefined) {
    if (values.name !== undefined || values.namespaces !== undefined) throw badUsage('give either -f, or --name and --namespaces')
    return loadInputs(values.file, io, options)
  }
  if (values.name === undefined) throw badUsage('no tenant is given: --name and --namespaces, or -f with a tenants file')
  const namespaces = (values.namespaces ?? '').split(',').map((namespace) => namespace.trim()).filter((namespace) => namespace !== '')
  return resolveInputs({ name: values.name, namespaces, ...sharedOptions(values) }, 'options', options)
}

async function emit({ documents, inputs }: Generated, values: Values, io: PoliciesIo): Promise<number> {
  const format: RenderFormat = oneOf('format', values.format, ['yaml', 'json']) ?? (values.json === true && values.out === undefined ? 'json' : 'yaml')
  const options = { format, header: headerOf(inputs, values.strict ?? false) }
  if (values.out === undefined) {
    if (values.check === true) throw badUsage('--check compares with a folder: name it with --out')
    io.stdout(renderStream(documents, options))
    return 0
  }
  return emitFiles({ folder: values.out, files: renderFiles(documents, options) }, { check: values.check ?? false, json: values.json ?? false }, io)
}

/** Writes files into a folder, or with `check` tells which of them differ from what is there. */
export async function emitFiles(
  { folder, files }: { readonly folder: string; readonly files: readonly RenderedFile[] },
  options: { readonly check: boolean; readonly json: boolean },
  io: PoliciesIo,
): Promise<number> {
  if (options.check) {
    const states = (await compareFiles(folder, files)).filter(({ state }) => state !== 'equal')
    if (options.json) printJson({ folder, differences: states }, io)
    else for (const { path, state } of states) io.stdout(`${state}: ${path}\n`)
    return states.length > 0 ? 1 : 0
  }
  await writeFiles(folder, files)
  if (options.json) printJson({ folder, written: files.map(({ path }) => path) }, io)
  else io.stdout(`${String(files.length)} file(s) written to ${folder}\n`)
  return 0
}
