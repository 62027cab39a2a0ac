import type { EventWait } from './commands.ts'
import type { EffectInput } from './effect.ts'
import type { Program } from './program.ts'

/** The event definitions that an effect waits for, with the entry of its state that each belongs to. */
export function declaredEvents(program: Program, input: EffectInput): EventWait['events'] {
  const named = input['events'] as unknown as readonly { readonly event: string; readonly entry?: number }[]
  return named.flatMap(({ event, entry = 0 }) => {
    const definition = program.events.get(event)
    return definition === undefined ? [] : [{ definition, entry }]
  })
}

/** The event that an action waits for in place of a call, by its type; none where it waits for none. */
export function awaitedEvents(type: string | undefined): EventWait['events'] {
  if (type === undefined) return []
  return [{ definition: { name: type, type, kind: 'consumed', dataOnly: true, correlation: [], metadata: {} }, entry: 0 }]
}
