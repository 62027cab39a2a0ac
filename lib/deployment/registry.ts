import type { Cancel } from '../common/index.ts'
import type { Catalogue, LoadFailure } from '../definition/index.ts'
import type { DeployedWorkflow, Deployments } from '../hosts/index.ts'

/** The definitions in service: hosts start from them, the server lists them. */
export interface Registry {
  readonly deployments: Deployments
  readonly catalogue: Required<Catalogue>
  /** Takes a definition into service, in place of one with the same id and version. */
  add(workflow: DeployedWorkflow): void
  /** Takes a definition out of service; without a version all of that id. Running instances keep it. */
  remove(id: string, version?: string): void
  /** Records files that could not be loaded. */
  setFailures(failures: readonly LoadFailure[]): void
  /** Records what is doubtful about the project as a whole. */
  setRemarks(remarks: readonly string[]): void
}

/** Creates an empty registry. */
export function createRegistry(): Registry {
  /** Versions of each id, in the order in which they came. */
  const workflows = new Map<string, Map<string, DeployedWorkflow>>()
  const newest = new Map<string, DeployedWorkflow>()
  const listeners = new Set<() => void>()
  let failures: readonly LoadFailure[] = []
  let remarks: readonly string[] = []
  const changed = (id: string): void => {
    const best = newestOf([...(workflows.get(id)?.values() ?? [])])
    if (best === undefined) newest.delete(id)
    else newest.set(id, best)
    for (const listener of listeners) listener()
  }
  const find = (id: string, version?: string): DeployedWorkflow | undefined => version === undefined ? newest.get(id) : workflows.get(id)?.get(version)
  return {
    deployments: { find, list: () => [...newest.values()] },
    catalogue: {
      list: () => [...newest.values()].map(({ loaded }) => loaded),
      all: () => [...workflows.values()].flatMap((versions) => [...versions.values()]).map(({ loaded }) => loaded),
      find: (id, version) => find(id, version)?.loaded,
      get failures() { return failures },
      get remarks() { return remarks },
      get consumedTypes() { return new Set([...newest.values()].flatMap(consumedTypesOf)) },
      onChange(listener): Cancel {
        listeners.add(listener)
        return () => { listeners.delete(listener) }
      },
    },
    add(workflow) {
      const { id, version } = workflow.program.definition
      const versions = workflows.get(id) ?? new Map<string, DeployedWorkflow>()
      versions.delete(version)
      workflows.set(id, versions.set(version, workflow))
      changed(id)
    },
    remove(id, version) {
      if (version === undefined) workflows.delete(id)
      else workflows.get(id)?.delete(version)
      changed(id)
    },
    setFailures(found) {
      failures = found
      for (const listener of listeners) listener()
    },
    setRemarks(found) { remarks = found },
  }
}

function consumedTypesOf({ program }: DeployedWorkflow): string[] {
  const declared = [...program.events.values()].filter(({ kind }) => kind === 'consumed').map(({ type }) => type)
  const called = program.invokers.flatMap(({ event }) => (event?.kind === 'consumed' ? [event.type] : []))
  return [...declared, ...called]
}

/** The highest by SemVer; where a version is none, the one that came last (decisions.md 3). */
function newestOf(workflows: readonly DeployedWorkflow[]): DeployedWorkflow | undefined {
  return workflows.reduce<DeployedWorkflow | undefined>((best, workflow) => {
    if (best === undefined) return workflow
    const order = compareVersions(workflow.program.definition.version, best.program.definition.version)
    return order === undefined || order >= 0 ? workflow : best
  }, undefined)
}

/** Compares by SemVer precedence (semver.org §11), with missing parts as 0; `undefined` when one is no such version. */
function compareVersions(left: string, right: string): number | undefined {
  const one = parseVersion(left)
  const other = parseVersion(right)
  if (one === undefined || other === undefined) return undefined
  for (let index = 0; index < 3; index += 1) {
    const difference = (one.numbers[index] ?? 0) - (other.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  return comparePrereleases(one.prerelease, other.prerelease)
}

interface Version {
  readonly numbers: readonly number[]
  readonly prerelease: readonly string[]
}

function parseVersion(text: string): Version | undefined {
  const match = /^v?(\d+(?:\.\d+){0,2})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/.exec(text.trim())
  if (match?.[1] === undefined) return undefined
  return { numbers: match[1].split('.').map(Number), prerelease: match[2]?.split('.') ?? [] }
}

function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const order = compareIdentifiers(left[index], right[index])
    if (order !== 0) return order
  }
  return 0
}

function compareIdentifiers(left: string | undefined, right: string | undefined): number {
  if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? -1 : 1
  const numeric = [left, right].map((text) => /^\d+$/.test(text))
  if (numeric[0] === true && numeric[1] === true) return Number(left) - Number(right)
  if (numeric[0] !== numeric[1]) return numeric[0] === true ? -1 : 1
  return left < right ? -1 : left > right ? 1 : 0
}
