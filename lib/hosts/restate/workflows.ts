import type { Json } from '../../common/index.ts'
import { DefinitionError } from '../../errors/index.ts'
import type { DeployedWorkflow, Deployments } from '../deployments.ts'
import type { StoredDefinition } from '../journal.ts'
import type { Engine } from './engine.ts'
import type { ServiceNames } from './names.ts'

/** What the definitions of a host are found by. */
export interface WorkflowsOptions {
  readonly deployments: Deployments
  readonly engine: Engine
  readonly names: ServiceNames
  /** Makes a definition ready that is no longer in service. */
  readonly redeploy: (definition: StoredDefinition) => Promise<DeployedWorkflow>
}

/**
 * The definitions of a host, by the hash of their text: an instance goes on with the text that it was started from, on every worker.
 *
 * Texts are kept by the engine, so that a worker can take up instances of definitions that it was never given.
 */
export class Workflows {
  readonly #options: WorkflowsOptions
  readonly #known = new Map<string, DeployedWorkflow>()
  readonly #stored = new Map<string, Promise<void>>()

  constructor(options: WorkflowsOptions) {
    this.#options = options
  }

  /** The definition in service. @throws {@link DefinitionError} `DEFINITION_NOT_FOUND` */
  inService(id: string, version?: string): DeployedWorkflow {
    const workflow = this.#options.deployments.find(id, version)
    if (workflow !== undefined) return workflow
    const which = version === undefined ? `"${id}"` : `"${id}" in version ${version}`
    throw new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `There is no workflow ${which}` })
  }

  /** Lets the engine keep the text of a definition. @throws {@link HostError} `STORE_UNAVAILABLE` */
  hold(workflow: DeployedWorkflow): Promise<void> {
    const { source, definition } = workflow.loaded
    this.#known.set(source.hash, workflow)
    const held = this.#stored.get(source.hash)
    if (held !== undefined) return held
    const stored: StoredDefinition = { hash: source.hash, workflowId: definition.id, version: definition.version, uri: source.uri, text: source.text }
    const { engine, names } = this.#options
    const holding = engine.call<Json>({ service: names.definition, key: source.hash, handler: 'put' }, stored).then(() => undefined)
    this.#stored.set(source.hash, holding)
    holding.catch(() => this.#stored.delete(source.hash))
    return holding
  }

  /**
   * The definition of that text.
   *
   * @throws {@link HostError} `STORE_UNAVAILABLE`
   * @throws {@link DefinitionError} when it cannot be deployed here
   */
  async ofHash(hash: string): Promise<DeployedWorkflow> {
    const known = this.#known.get(hash) ?? this.#options.deployments.list().find(({ loaded }) => loaded.source.hash === hash)
    if (known !== undefined) {
      this.#known.set(hash, known)
      return known
    }
    const { engine, names, deployments, redeploy } = this.#options
    const stored = await engine.call<StoredDefinition | null>({ service: names.definition, key: hash, handler: 'get' }, {})
    if (stored === null) throw new DefinitionError({ code: 'DEFINITION_NOT_FOUND', message: `The engine does not hold the definition with hash ${hash}` })
    const inService = deployments.find(stored.workflowId, stored.version)
    const workflow = inService?.loaded.source.hash === hash ? inService : await redeploy(stored)
    this.#known.set(hash, workflow)
    return workflow
  }
}
