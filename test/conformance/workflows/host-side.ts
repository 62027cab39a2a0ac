import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Json } from '../../../lib/common/index.ts'
import type { CallContext, FunctionCall, FunctionResult } from '../../../lib/functions/index.ts'
import type { RuntimeOptions } from '../../../lib/runtime-options.ts'
import type { CaseFile, CustomFunction, LoadedCase } from './case-file.ts'
import { findHostFunction, type HostFunction } from './host-functions.ts'

/** A call that a host function got. */
interface RecordedCall {
  readonly name: string
  readonly data: unknown
}

/** What host functions reach of the case that they belong to. */
interface HostConnection {
  readonly log: (text: string) => void
  readonly now: () => number
}

/** The host application around the product: its functions, and the record of their calls. */
export interface HostSide {
  readonly calls: readonly RecordedCall[]
  /** Calls after this belong to the request that comes now. */
  mark(): void
  /** Calls since the last mark. */
  callsSinceMark(): readonly RecordedCall[]
  connect(connection: HostConnection): void
  /** Registers the functions with the product. */
  options(file: CaseFile): Pick<RuntimeOptions, 'hostClasses' | 'functionTypes' | 'replace'>
}

const SERVICE = /^service:(?:[a-z]+:)?([^:]+)::(.+)$/

/** Finds an implementation for every function that a case asks for; throws naming the operation that has none. */
export async function createHostSide({ file, folder }: LoadedCase): Promise<HostSide> {
  const own = await ownFunctions(folder)
  const functions = (file.customFunctions ?? []).map((custom) => ({ custom, implementation: findHostFunction(custom, own) }))
  const calls: RecordedCall[] = []
  let connection: HostConnection = { log: () => undefined, now: () => 0 }
  const invoke = (custom: CustomFunction, implementation: HostFunction, data: unknown, context: CallContext): unknown => {
    calls.push({ name: custom.name, data })
    return implementation(data, { instanceId: context.instanceId, now: connection.now(), log: connection.log })
  }
  let marked = 0
  return {
    calls,
    mark() { marked = calls.length },
    callsSinceMark: () => calls.slice(marked),
    connect(given) { connection = given },
    options({ needs }) {
      const hostClasses = new Map<string, Record<string, unknown>>()
      const handlers = new Map<string, (operation: string, call: FunctionCall) => FunctionResult>()
      const byName = new Map<string, (call: FunctionCall) => FunctionResult>()
      for (const { custom, implementation } of functions) {
        const [, className, method] = SERVICE.exec(custom.operation) ?? []
        const call = ({ arguments: given, data, context }: FunctionCall): FunctionResult => toResult(invoke(custom, implementation, given ?? data, context))
        if (className !== undefined && method !== undefined) {
          const methods = hostClasses.get(className) ?? {}
          methods[method] = (data: unknown, context: CallContext) => invoke(custom, implementation, data, context)
          hostClasses.set(className, methods)
        } else if (custom.operation.includes(':')) {
          addHandler(handlers, custom.operation, call)
        } else {
          byName.set(custom.name, call)
        }
      }
      // Scripts of an interpreter that nobody embeds only have to load; a host may take them, and this one does nothing with them.
      if (needs.includes('script')) handlers.set('script', () => ({ output: null }))
      return { hostClasses, functionTypes: handlers, replace: { functions: byName } }
    },
  }
}

function addHandler(
  handlers: Map<string, (operation: string, call: FunctionCall) => FunctionResult>, operation: string, call: (call: FunctionCall) => FunctionResult,
): void {
  const at = operation.indexOf(':')
  const before = handlers.get(operation.slice(0, at))
  const wanted = operation.slice(at + 1)
  handlers.set(operation.slice(0, at), (name, request) => {
    if (name === wanted) return call(request)
    if (before !== undefined) return before(name, request)
    throw Object.assign(new Error(`unknown operation ${name}`), { name: 'java.lang.IllegalArgumentException' })
  })
}

function toResult(value: unknown): FunctionResult {
  return { output: (value ?? null) as Json }
}

/** A corpus may bring implementations: in the folder of the group, of the workflows, or of the whole. */
async function ownFunctions(folder: string): Promise<Readonly<Record<string, HostFunction>>> {
  for (const place of [folder, join(folder, '..'), join(folder, '../..')]) {
    const path = join(place, 'host-functions.mjs')
    if (!await access(path).then(() => true, () => false)) continue
    const module = await import(pathToFileURL(path).href) as { readonly default: Readonly<Record<string, HostFunction>> }
    return module.default
  }
  return {}
}
