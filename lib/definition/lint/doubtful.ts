import { atPointer, toPointer, type JsonObject } from '../../common/index.ts'
import { suggest } from '../suggest.ts'
import { eventUsesOf } from '../semantics/events.ts'
import { findUnconnected } from '../semantics/flow.ts'
import type { Definition, LintWarning } from '../types.ts'
import { exitsOf, statePointer } from '../walk.ts'

/** Namespaces of `custom` operations that the product brings along (S125). */
const BUILT_IN_NAMESPACES = ['service', 'rest', 'sysout', 'script', 'knative', 'camel', 'rpc', 'java']

/** Finds what is allowed and probably not meant. */
export function findDoubtful(document: JsonObject, definition: Definition, functionTypes: readonly string[] | undefined): readonly LintWarning[] {
  return [
    ...findUnconnected(definition).map((place) => ({ rule: 'unconnected-state', ...place })),
    ...findEventKinds(definition),
    ...findAmbiguousEvents(definition),
    ...findSwitches(definition),
    ...findBranchNames(definition),
    ...findConstants(definition),
    ...findContinueAs(document, definition),
    ...(functionTypes === undefined ? [] : findFunctionTypes(definition, functionTypes)),
  ]
}

/** Three examples of the specification produce an event whose kind is consumed (S143). */
function findEventKinds(definition: Definition): readonly LintWarning[] {
  const kinds = new Map(definition.events.map(({ name, kind }) => [name, kind]))
  return eventUsesOf(definition).flatMap(({ pointer, name, use }) => {
    const kind = kinds.get(name)
    return kind === undefined || kind === use ? [] : [{ rule: 'event-kind', pointer, message: `event ${name} is ${use} here and defined as ${kind} (S143)` }]
  })
}

function findAmbiguousEvents({ events }: Definition): readonly LintWarning[] {
  return events.flatMap((event, index) => {
    const first = events.findIndex(({ type, source, kind }) => kind === 'consumed' && type === event.type && source === event.source)
    const other = events[first]
    return event.kind === 'produced' || other === undefined || first >= index
      ? []
      : [{
          rule: 'ambiguous-events',
          pointer: toPointer(['events', index]),
          message: `events ${other.name} and ${event.name} have the same type and source; an event matches both (A09)`,
        }]
  })
}

function findSwitches(definition: Definition): readonly LintWarning[] {
  return definition.states.flatMap((state, index): LintWarning[] => {
    if (state.type !== 'switch' || state.eventConditions.length === 0 || state.defaultCondition === undefined) return []
    const { eventTimeout, stateExecTimeout } = state.timeouts
    return eventTimeout !== undefined || stateExecTimeout !== undefined
      ? []
      : [{
          rule: 'unreachable-default',
          pointer: `${statePointer(index)}/defaultCondition`,
          message: 'without an eventTimeout the default is never taken (S049)',
        }]
  })
}

function findBranchNames(definition: Definition): readonly LintWarning[] {
  return definition.states.flatMap((state, index) => {
    if (state.type !== 'parallel') return []
    const names = state.branches.map(({ name }) => name)
    return names.flatMap((name, at) => names.indexOf(name) === at
      ? []
      : [{
          rule: 'duplicate-branch-name',
          pointer: `${statePointer(index)}/branches/${String(at)}`,
          message: `another branch is called ${name} too`,
        }])
  })
}

function findConstants({ constants }: Definition): readonly LintWarning[] {
  return Object.entries(constants).flatMap(([name, value]) => JSON.stringify(value).includes('${')
    ? [{ rule: 'expression-in-constant', pointer: toPointer(['constants', name]), message: 'constants are static; expressions in them are not evaluated (S178)' }]
    : [])
}

/** The official schema accepts the contradiction; continueAs terminates all the same (S274). */
function findContinueAs(document: JsonObject, { states }: Definition): readonly LintWarning[] {
  return states.flatMap((state, index) => exitsOf(state, statePointer(index)).flatMap(({ pointer }): LintWarning[] => {
    const place = `${pointer}/terminate`
    const hasTarget = atPointer(document, `${pointer}/continueAs`) !== undefined
    const terminate = atPointer(document, place)
    return hasTarget && (terminate === false || terminate === 'false')
      ? [{ rule: 'continue-as-terminates', pointer: place, message: 'continueAs terminates the instance, whatever terminate says (S274)' }]
      : []
  }))
}

function findFunctionTypes(definition: Definition, functionTypes: readonly string[]): readonly LintWarning[] {
  const known = [...BUILT_IN_NAMESPACES, ...functionTypes]
  return definition.functions.flatMap(({ type, operation, name }, index) => {
    const namespace = operation.trim().split(':')[0] ?? ''
    return type !== 'custom' || known.includes(namespace)
      ? []
      : [{
          rule: 'unknown-function-type',
          pointer: toPointer(['functions', index, 'operation']),
          message: `function ${name} is of type ${namespace}, which is not registered; ${suggest(namespace, known)}`,
        }]
  })
}
