import { FunctionError } from '../errors/index.ts'
import type { CloudEventRecord } from '../events/index.ts'
import type { ResolvedFunction } from './resolve-functions.ts'

/** Finds the function that a request means (function-runtime.md §2). */
export interface Routing {
  /**
   * Finds the function of an event by type and attributes.
   *
   * @throws {@link FunctionError} `FUNCTION_NOT_FOUND`, with status 404 when there is none and 409 when there are several
   */
  byEvent(event: CloudEventRecord): ResolvedFunction
  /** Finds the function of a plain request by its decoded name; the empty name is the root. */
  byName(name: string): ResolvedFunction | undefined
}

const FALLBACK = '*'

/** Builds the tables that requests are matched against. */
export function createRouting(functions: ReadonlyMap<string, ResolvedFunction>, exported: string | undefined): Routing {
  const all = [...functions.values()]
  const only = all.length === 1 ? all[0] : undefined
  const root = exported === undefined ? only : functions.get(exported)
  const anyEvent = exported === undefined ? (only?.selective === false ? only : undefined) : root
  const byTrigger = new Map<string, ResolvedFunction[]>()
  for (const one of all) {
    for (const trigger of one.triggers) byTrigger.set(trigger, [...byTrigger.get(trigger) ?? [], one])
  }
  const matching = (trigger: string, event: CloudEventRecord): ResolvedFunction[] =>
    (byTrigger.get(trigger) ?? []).filter((one) => fits(one, event))
  return {
    byName: (name) => name === '' ? root : functions.get(name),
    byEvent(event) {
      if (anyEvent !== undefined) return anyEvent
      const typed = matching(event.type, event)
      const found = typed.length > 0 ? typed : matching(FALLBACK, event)
      if (found[0] !== undefined && found.length === 1) return found[0]
      throw noSingleFunction(event, found)
    },
  }
}

function fits(one: ResolvedFunction, event: CloudEventRecord): boolean {
  for (const [name, value] of one.filters) {
    const attribute = Object.hasOwn(event, name) ? event[name] : undefined
    // Extensions may be numbers and booleans; filters are text.
    if (attribute === undefined || typeof attribute === 'object' || String(attribute) !== value) return false
  }
  return true
}

function noSingleFunction(event: CloudEventRecord, found: readonly ResolvedFunction[]): FunctionError {
  const type = JSON.stringify(event.type.slice(0, 80))
  return new FunctionError({
    code: 'FUNCTION_NOT_FOUND',
    status: found.length === 0 ? 404 : 409,
    message: found.length === 0
      ? `No function takes events of type ${type} with these attributes`
      : `Events of type ${type} with these attributes are taken by several functions: ${found.map(({ name }) => name).join(', ')}`,
  })
}
