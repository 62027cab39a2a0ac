import type { Logger } from '../common/index.ts'
import { findMissingWorkflows, loadDefinition, loadDefinitions, withoutDuplicates, type DefinitionInput, type LoadedDefinition, type LoadFailure, type LoadOptions } from '../definition/index.ts'
import { DefinitionError, type Violation } from '../errors/index.ts'
import { deploy, findExpressionFaults, type DeployOptions } from './deploy.ts'
import { variablesOf } from './loop-variables.ts'
import type { Registry } from './registry.ts'

/** What loading definitions into service needs. */
export interface LoaderOptions {
  readonly registry: Registry
  readonly load: LoadOptions
  readonly deploy: DeployOptions
  readonly log: Logger
  /** The first broken definition is thrown instead of being told. */
  readonly strict: boolean
}

/** Loads definitions and takes those that can run into service. */
export interface Loader {
  /**
   * Adds definitions to those in service; one with the same id and version takes the place of the other.
   *
   * @throws {@link DefinitionError} only with option `strict`
   */
  add(definitions: readonly DefinitionInput[]): Promise<{ readonly failures: readonly LoadFailure[] }>
  /** Brings what is in service in line with files: new and changed ones are taken up, those that are gone are taken out. */
  reload(definitions: readonly DefinitionInput[]): Promise<{ readonly failures: readonly LoadFailure[] }>
}

/** Creates the loader of a runtime. */
export function createLoader(options: LoaderOptions): Loader {
  const { registry, log, strict } = options
  const remark = createRemark(options)
  /** Hash of the text in service, by address. */
  const served = new Map<string, { readonly hash: string; readonly id: string; readonly version: string }>()

  async function take(definitions: readonly DefinitionInput[], unchanged: (loaded: LoadedDefinition) => boolean): Promise<{ found: readonly LoadedDefinition[]; failures: readonly LoadFailure[] }> {
    const inspect = (broken: LoadedDefinition): readonly Violation[] => findExpressionFaults(broken, options.deploy)
    const { loaded, failures } = await load(definitions, { ...options.load, inspect })
    const { loaded: found, failures: duplicates } = withoutDuplicates(loaded)
    const refused = [...failures, ...duplicates]
    const all = [...found, ...registry.catalogue.all()]
    const inheritedVariables = all.flatMap(({ definition }) => variablesOf(definition))
    for (const candidate of found) {
      if (unchanged(candidate)) continue
      const warnings = [...candidate.warnings, ...findMissingWorkflows(candidate, all)]
      await takeOne({ ...candidate, warnings }, { ...options.deploy, inheritedVariables }, refused)
    }
    if (refused.length === 0 && found.length > 0) remark()
    for (const { uri, error } of refused) log.error({ definition: uri, code: error.code }, error.message)
    registry.setFailures(refused)
    if (strict && refused[0] !== undefined) throw refused[0].error
    return { found, failures: refused }
  }

  async function takeOne(candidate: LoadedDefinition, deployOptions: DeployOptions, refused: LoadFailure[]): Promise<void> {
    const { definition, source, warnings } = candidate
    for (const warning of warnings) log.warn({ workflow: definition.id, ...warning }, warning.message)
    try {
      registry.add(await deploy(candidate, deployOptions))
      served.set(source.uri, { hash: source.hash, id: definition.id, version: definition.version })
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error
      refused.push({ uri: source.uri, error })
    }
  }

  return {
    async add(definitions) {
      const { failures } = await take(definitions, () => false)
      return { failures }
    },
    async reload(definitions) {
      const { found, failures } = await take(definitions, ({ source }) => served.get(source.uri)?.hash === source.hash)
      // A file that is broken now keeps its last good version in service; one that is gone does not.
      const present = new Set([...found.map(({ source }) => source.uri), ...failures.map(({ uri }) => uri)])
      for (const [uri, { id, version }] of served) {
        if (present.has(uri)) continue
        served.delete(uri)
        registry.remove(id, version)
      }
      return { failures }
    },
  }
}

/** Settings belong to the project, so they are looked at once: with the first definitions, and only when each of their functions is known. */
function createRemark({ registry, log, deploy: { functions, replacements } }: LoaderOptions): () => void {
  let isDone = replacements !== undefined
  return () => {
    if (isDone) return
    isDone = true
    const remarks = functions.unusedSettings()
    for (const message of remarks) log.warn({}, message)
    registry.setRemarks(remarks)
  }
}

async function load(definitions: readonly DefinitionInput[], options: LoadOptions): Promise<{ loaded: readonly LoadedDefinition[]; failures: readonly LoadFailure[] }> {
  const paths = definitions.filter((input) => typeof input === 'string')
  const result = await loadDefinitions(paths, options)
  const loaded = [...result.loaded]
  const failures = [...result.failures]
  for (const input of definitions) {
    if (typeof input === 'string') continue
    try {
      loaded.push(await loadDefinition(input, options))
    } catch (error) {
      if (!(error instanceof DefinitionError)) throw error
      failures.push({ uri: input.uri, error })
    }
  }
  return { loaded, failures }
}
