import { unavailable, type FunctionSource, type FunctionTypeHandler } from '../compile-options.ts'
import type { Invoker } from '../invoker.ts'
import { compileHosted } from './hosted.ts'
import { compileKnative } from './knative.ts'
import type { RemoteParts } from './parts.ts'
import { compileRestCall } from './rest-call.ts'
import { compileScript } from './script.ts'
import { compileService } from './service.ts'
import { compileSysout } from './sysout.ts'

type CustomKind = (operation: string, source: FunctionSource, parts: RemoteParts) => Invoker | Promise<Invoker>

const CUSTOM_KINDS: Readonly<Record<string, CustomKind>> = {
  service: compileService,
  rest: compileRestCall,
  knative: compileKnative,
  function: compileHosted,
  sysout: compileSysout,
  script: compileScript,
}

/**
 * Compiles a `custom` function by what stands before the first colon of its operation (S125). Types that the host registers come
 * before those built in; an unknown one loads with a warning and fails when called.
 */
export function compileCustom(source: FunctionSource, parts: RemoteParts): Invoker | Promise<Invoker> {
  const [type, operation] = splitType(source.definition.operation)
  const handler = source.options.functionTypes?.get(type)
  if (handler !== undefined) return compileHostType(handler, operation, source)
  const kind = Object.hasOwn(CUSTOM_KINDS, type) ? CUSTOM_KINDS[type] : undefined
  if (kind !== undefined) return kind(operation, source, parts)
  const known = [...source.options.functionTypes?.keys() ?? [], ...Object.keys(CUSTOM_KINDS)]
  return unavailable(source, `the custom function type "${type}" is not registered; known are ${known.join(', ')}`)
}

function compileHostType(handler: FunctionTypeHandler, operation: string, source: FunctionSource): Invoker {
  if (typeof handler !== 'function') return { invoke: handler.compile(operation, source.definition) }
  return { invoke: (call) => handler(operation, call) }
}

function splitType(operation: string): [type: string, rest: string] {
  const at = operation.indexOf(':')
  return at < 0 ? [operation.trim(), ''] : [operation.slice(0, at).trim(), operation.slice(at + 1).trim()]
}
