import type { Catalogue, Definition, LoadedDefinition, State } from '../definition/index.ts'

/** What the server needs to know of a served definition, found out once and not per request. */
export interface WorkflowRoute {
  readonly id: string
  readonly version: string
  readonly loaded: LoadedDefinition
  /** Path of its instances, from the root path on, with trailing slash. */
  readonly instancesPath: string
  /** Event types that start it, when it begins with an event state: then POST does not. */
  readonly startedBy: readonly string[] | undefined
}

/** The served definitions by the paths that reach them; follows the catalogue. */
export interface WorkflowRoutes {
  /** By path as it stands in most requests, for the hot path; misses other spellings of the same path. */
  readonly byPath: ReadonlyMap<string, WorkflowRoute>
  find(id: string): WorkflowRoute | undefined
  list(): readonly WorkflowRoute[]
  /** Types of events that some served definition consumes. */
  readonly consumedTypes: ReadonlySet<string>
  /** Grows whenever the definitions change. */
  readonly revision: number
  close(): void
}

/** Follows a catalogue and keeps its definitions by path. */
export function createWorkflowRoutes(catalogue: Catalogue, rootPath: string): WorkflowRoutes {
  const byPath = new Map<string, WorkflowRoute>()
  const byId = new Map<string, WorkflowRoute>()
  const consumedTypes = new Set<string>()
  let revision = 0
  const rebuild = (): void => {
    byPath.clear()
    byId.clear()
    consumedTypes.clear()
    revision++
    for (const loaded of catalogue.list()) {
      const route = toRoute(loaded, rootPath)
      byId.set(route.id, route)
      byPath.set(route.instancesPath, route)
      byPath.set(route.instancesPath.slice(0, -1), route)
      for (const event of loaded.definition.events) if (event.kind === 'consumed') consumedTypes.add(event.type)
    }
    for (const type of catalogue.consumedTypes ?? []) consumedTypes.add(type)
  }
  rebuild()
  const cancel = catalogue.onChange(rebuild)
  return {
    byPath,
    find: (id) => byId.get(id),
    list: () => [...byId.values()],
    consumedTypes,
    get revision() { return revision },
    close: cancel,
  }
}

function toRoute(loaded: LoadedDefinition, rootPath: string): WorkflowRoute {
  const { id, version } = loaded.definition
  return { id, version, loaded, instancesPath: `${rootPath}/${encodeURIComponent(id)}/`, startedBy: startingTypes(loaded.definition) }
}

function startingTypes(definition: Definition): readonly string[] | undefined {
  const start: State | undefined = definition.states.find((state) => state.name === definition.start.stateName)
  if (start?.type !== 'event') return undefined
  const names = new Set(start.onEvents.flatMap((onEvents) => onEvents.eventRefs))
  return definition.events.filter((event) => names.has(event.name)).map((event) => event.type)
}
