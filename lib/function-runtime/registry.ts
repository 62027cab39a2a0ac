import type { IncomingHttpHeaders } from 'node:http'
import type { Json, Logger } from '../common/index.ts'
import { FunctionError } from '../errors/index.ts'
import { isBase64, fromBase64, toBase64, type CloudEventRecord } from '../events/index.ts'
import { answerOf, toEventAnswer, type EventAnswer } from './answer-event.ts'
import { toReceivedEvent } from './event.ts'
import { createInvoker } from './invoker.ts'
import { resolveFunctionRuntimeOptions, type FunctionRuntimeOptions } from './options.ts'
import { resolveFunctions, type FunctionSources, type ResolvedFunction } from './resolve-functions.ts'
import { invalidOutput, readJson, readRecordData, writeJson, type Slot } from './values.ts'

/** What accompanies a call within the process. */
export interface RegistryCallContext {
  /** The event to call with; the answer is an event then (rule 6). */
  readonly event?: CloudEventRecord
  readonly headers?: Readonly<IncomingHttpHeaders>
  /** Aborts the signal that the handler sees. */
  readonly signal?: AbortSignal
  readonly log?: Logger
}

/** Functions that are called by name within the process, validated as over HTTP. */
export interface FunctionRegistry {
  readonly names: readonly string[]
  has(name: string): boolean
  /**
   * Calls a function with a JSON value: what a plain HTTP request would do, without HTTP.
   *
   * With `context.event` the input is the event's data, and the answer is the whole answering event.
   *
   * @param input the input, copied before the handler gets it; bytes as base64
   * @returns the output as JSON, bytes as base64; `undefined` when there is none
   * @throws {@link FunctionError} `FUNCTION_NOT_FOUND`, `FUNCTION_ARGUMENT_INVALID`, `FUNCTION_TIMEOUT`, `FUNCTION_FAILED` (cause: what the
   *   handler threw)
   */
  invoke(name: string, input?: Json, context?: RegistryCallContext): Promise<Json | undefined>
  /** Waits for running calls within the shutdown timeout, then aborts their signals. */
  close(): Promise<void>
}

/**
 * Creates a registry of functions for calls within the process.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` listing every fault of every function
 *
 * @example
 * const double = defineFunction({ input: json({ type: 'integer' }), output: json({ type: 'integer' }) }, (n) => n * 2)
 * const registry = createFunctionRegistry({ double })
 * await registry.invoke('double', 21) // => 42
 */
export function createFunctionRegistry(sources: FunctionSources, options: FunctionRuntimeOptions = {}): FunctionRegistry {
  const resolved = resolveFunctionRuntimeOptions(options)
  const functions = resolveFunctions(sources, resolved)
  const invoker = createInvoker(resolved)
  return {
    names: [...functions.keys()],
    has: (name) => functions.has(name),
    async invoke(name, input, context = {}) {
      const one = functions.get(name)
      if (one === undefined) throw new FunctionError({ code: 'FUNCTION_NOT_FOUND', message: `There is no function ${name} here` })
      const { event, signal } = context
      const value = readInput(one, input, event)
      const given = await invoker.invoke(one, value, {
        ...(context.headers === undefined ? {} : { headers: context.headers }),
        ...(event === undefined ? {} : { event: () => toReceivedEvent(event, one.input.wrapped ? undefined : value) }),
        ...(signal === undefined ? {} : { onCallerLeft: (callback) => listen(signal, callback) }),
        ...(context.log === undefined ? {} : { log: context.log }),
      })
      if (event !== undefined) return toDocument(toEventAnswer(one, given, { specversion: event.specversion, ids: resolved.ids }))
      const { data } = answerOf(one, given)
      return data === undefined ? undefined : plain(one.output, data.value)
    },
    close: () => invoker.close(),
  }
}

function readInput({ name, input: slot }: ResolvedFunction, input: Json | undefined, event: CloudEventRecord | undefined): unknown {
  if (event !== undefined) {
    const data = readRecordData(slot, event)
    return slot.wrapped ? toReceivedEvent(event, data) : data
  }
  if (slot.wrapped) throw eventNeeded(name)
  if (slot.kind === 'bytes') {
    if (typeof input === 'string' && isBase64(input)) return fromBase64(input)
    throw new FunctionError({ code: 'FUNCTION_ARGUMENT_INVALID', message: `Function ${name} takes bytes; give them as base64` })
  }
  // The caller's value is workflow data: the handler must not be able to change it.
  return readJson(slot, structuredClone(input))
}

function toDocument(answer: EventAnswer | undefined): Json | undefined {
  if (answer === undefined) return undefined
  const { record, data, slot } = answer
  if (data === undefined) return record
  return slot.kind === 'bytes'
    ? { ...record, datacontenttype: record.datacontenttype ?? 'application/octet-stream', data_base64: plain(slot, data.value) }
    : { ...record, datacontenttype: record.datacontenttype ?? 'application/json', data: plain(slot, data.value) }
}

function plain(slot: Slot, value: unknown): Json {
  if (slot.kind !== 'bytes') return writeJson(slot, value) as Json
  if (value instanceof Uint8Array) return toBase64(value)
  throw invalidOutput(slot.function, 'it is no Uint8Array')
}

/** Makes the error for a call without event of a function that needs one (rules 1 and 2). */
export function eventNeeded(name: string): FunctionError {
  return new FunctionError({
    code: 'FUNCTION_ARGUMENT_INVALID',
    message: `Function ${name} can only be called by a CloudEvent: send one, binary (ce-* headers) or structured (application/cloudevents+json)`,
  })
}

function listen(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => undefined
  }
  signal.addEventListener('abort', callback, { once: true })
  return () => { signal.removeEventListener('abort', callback) }
}
