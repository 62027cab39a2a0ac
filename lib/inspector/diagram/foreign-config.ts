import { isJsonObject, type Json, type JsonObject } from '../../common/index.ts'
import type { InvokeConfig, MachineConfig, Named, NodeConfig, TransitionConfig } from '../../translation/index.ts'

/** Deeper machines are cut: nobody can read them, and a walk must end. */
const DEEPEST = 20

/** Reads the config of any XState machine, in its short forms too, as far as it can be drawn; everything unknown is left out. */
export function readForeignConfig(value: Json): MachineConfig {
  const config = isJsonObject(value) ? value : {}
  const node = readNode(config, 0)
  const states = node.states ?? {}
  return { ...node, id: textOf(config['id']) ?? 'machine', initial: node.initial ?? Object.keys(states)[0] ?? '', states }
}

function readNode(config: JsonObject, depth: number): NodeConfig {
  const { states, initial, on, always, invoke, entry, exit, type, id } = config
  const start = isJsonObject(initial) ? textOf(initial['target']) : textOf(initial)
  const identity = textOf(id)
  return {
    ...(identity === undefined ? {} : { id: identity }),
    ...(type === 'final' ? { type: 'final' } : {}),
    ...(start === undefined ? {} : { initial: start.replace(/^\./u, '') }),
    ...(isJsonObject(states) && depth < DEEPEST ? { states: mapObject(states, (child) => readNode(isJsonObject(child) ? child : {}, depth + 1)) } : {}),
    on: { ...(isJsonObject(on) ? mapObject(on, readTransitions) : {}), ...(isJsonObject(config['after']) ? mapObject(config['after'], readTransitions) : {}) },
    always: readTransitions(always),
    invoke: listOf(invoke).flatMap(readInvoke),
    entry: listOf(entry).flatMap(readNamed),
    exit: listOf(exit).flatMap(readNamed),
  }
}

function readTransitions(value: Json | undefined): TransitionConfig[] {
  return listOf(value).flatMap((each): TransitionConfig[] => {
    if (typeof each === 'string') return [{ target: each }]
    if (!isJsonObject(each)) return []
    const target = textOf(Array.isArray(each['target']) ? (each['target'] as readonly Json[])[0] : each['target'])
    const [guard] = listOf(each['guard'] ?? each['cond']).flatMap(readNamed)
    return [{ ...(target === undefined ? {} : { target }), ...(guard === undefined ? {} : { guard }) }]
  })
}

function readInvoke(value: Json): InvokeConfig[] {
  if (!isJsonObject(value)) return []
  const [named] = listOf(value['src']).flatMap(readNamed)
  const src = named?.type ?? 'actor'
  return [{ id: textOf(value['id']) ?? src, src, input: {}, onDone: readTransitions(value['onDone']), onError: readTransitions(value['onError']) }]
}

function readNamed(value: Json): Named[] {
  const type = isJsonObject(value) ? textOf(value['type']) : textOf(value)
  return type === undefined ? [] : [{ type }]
}

function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value as readonly Json[] : [value]
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function mapObject<Result>(value: JsonObject, read: (item: Json) => Result): Record<string, Result> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, read(item)]))
}
