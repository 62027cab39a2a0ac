import { toPointer } from '../../common/index.ts'
import { actionsOf, exitsOf, statePointer } from '../walk.ts'
import type { SemanticScope } from './scope.ts'

/** A use of an event definition. */
export interface EventUse {
  readonly pointer: string
  readonly name: string
  readonly use: 'consumed' | 'produced'
}

/** Lists where a definition consumes and produces events. */
export function eventUsesOf(definition: SemanticScope['definition']): readonly EventUse[] {
  return definition.states.flatMap((state, index): EventUse[] => {
    const pointer = statePointer(index)
    const uses: EventUse[] = []
    if (state.type === 'event') {
      state.onEvents.forEach((entry, position) => {
        entry.eventRefs.forEach((name, at) => {
          uses.push({ pointer: `${pointer}/onEvents/${String(position)}/eventRefs/${String(at)}`, name, use: 'consumed' })
        })
      })
    }
    if (state.type === 'switch') {
      state.eventConditions.forEach(({ eventRef }, position) => {
        uses.push({ pointer: `${pointer}/eventConditions/${String(position)}/eventRef`, name: eventRef, use: 'consumed' })
      })
    }
    if (state.type === 'callback') uses.push({ pointer: `${pointer}/eventRef`, name: state.eventRef, use: 'consumed' })
    for (const { action: { eventRef }, pointer: place } of actionsOf(state, pointer)) {
      if (eventRef === undefined) continue
      uses.push({ pointer: `${place}/eventRef/triggerEventRef`, name: eventRef.triggerEventRef, use: 'produced' })
      if (eventRef.resultEventRef !== undefined) uses.push({ pointer: `${place}/eventRef/resultEventRef`, name: eventRef.resultEventRef, use: 'consumed' })
    }
    for (const { exit, pointer: place } of exitsOf(state, pointer)) {
      exit.produceEvents.forEach(({ eventRef }, at) => {
        uses.push({ pointer: `${place}/produceEvents/${String(at)}/eventRef`, name: eventRef, use: 'produced' })
      })
    }
    return uses
  })
}

/** Checks event definitions and their uses (G14, S103). */
export function checkEvents(scope: SemanticScope): void {
  const { definition, checkName, report } = scope
  const names = definition.events.map(({ name }) => name)
  for (const { pointer, name, use } of eventUsesOf(definition)) {
    checkName(
      pointer,
      { kind: `${use} event`, name },
      names,
    )
  }
  if (definition.profile === 'sonataflow') return
  definition.events.forEach((event, index) => {
    // No CloudEvent has an empty source, so that nothing would ever fit.
    if (event.kind === 'consumed' && (event.source ?? '') === '') {
      report(
        toPointer(['events', index]),
        `consumed event ${event.name} has no source`,
        'events match by type and source (S132): write the source, or "*" for any; the profile sonataflow matches by type only',
      )
    }
  })
  definition.states.forEach((state, index) => {
    for (const { action: { eventRef }, pointer } of actionsOf(state, statePointer(index))) {
      if (eventRef !== undefined && eventRef.resultEventRef === undefined) {
        report(
          `${pointer}/eventRef`,
          'resultEventRef is missing',
          'an event action names the event that it waits for (S103); the profile sonataflow does not ask for it',
        )
      }
    }
  })
}
