import type { Json, JsonObject } from '../../../../lib/common/index.ts'

/** Makes a small valid document with some parts replaced. */
export function workflow(parts: Readonly<Record<string, Json>> = {}): JsonObject {
  return { id: 'test', specVersion: '0.8', states: [injectState('Start')], ...parts }
}

/** Makes an inject state that ends. */
export function injectState(name: string, parts: Readonly<Record<string, Json>> = { end: true }): JsonObject {
  return { name, type: 'inject', data: {}, ...parts }
}

/** Makes an operation state with some actions. */
export function operationState(name: string, actions: Json, parts: Readonly<Record<string, Json>> = { end: true }): JsonObject {
  return { name, type: 'operation', actions, ...parts }
}

/** A function that every reference in tests may call. */
export const FUNCTIONS: Json = [{ name: 'f', type: 'custom', operation: 'service:Orders::create' }]
