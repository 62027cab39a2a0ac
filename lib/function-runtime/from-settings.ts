import { canonicalName, type Settings } from '../configuration/index.ts'
import type { FunctionMapping, FunctionRuntimeOptions } from './options.ts'

const MAPPING = 'sonatina.function-runtime.mapping'
const FUNQY_MAPPING = 'quarkus.funqy.knative-events.mapping'

/** Options of the function runtime that come from settings. */
export type FunctionSettings = Pick<
  FunctionRuntimeOptions,
  'export' | 'mapping' | 'profile' | 'timeout' | 'shutdownTimeout' | 'maxBodySize' | 'maxDepth' | 'lenientEvents'
>

/**
 * Reads the options of the function runtime from the settings (function-runtime.md §1; Funqy's names are aliases).
 *
 * @param names names of the functions, for mappings given in the environment
 */
export function functionOptionsFrom(settings: Settings, names: readonly string[]): FunctionSettings {
  const exported = settings.text('sonatina.function-runtime.export')
  const timeout = settings.duration('sonatina.function-runtime.timeout')
  const shutdownTimeout = settings.duration('sonatina.shutdown.timeout')
  const maxBodySize = settings.size('sonatina.http.limits.max-body-size')
  const maxDepth = settings.number('sonatina.http.limits.max-depth')
  return {
    profile: settings.profile,
    lenientEvents: settings.boolean('sonatina.function-runtime.lenient-events', false),
    mapping: mappingFrom(settings, names),
    ...(exported === undefined ? {} : { export: exported }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(shutdownTimeout === undefined ? {} : { shutdownTimeout }),
    ...(maxBodySize === undefined ? {} : { maxBodySize }),
    ...(maxDepth === undefined ? {} : { maxDepth }),
  }
}

function mappingFrom(settings: Settings, names: readonly string[]): Record<string, FunctionMapping> {
  // Segments come in canonical form; one that stands for no function is kept, so that the start can refuse it.
  const configured = [...settings.segments(MAPPING), ...settings.segments(FUNQY_MAPPING)]
    .filter((segment) => !names.some((name) => canonicalName(name) === canonicalName(segment)))
  const mapping: Record<string, FunctionMapping> = {}
  for (const name of new Set([...names, ...configured])) {
    const read = (key: string): string | undefined => settings.text(`${MAPPING}.${name}.${key}`) ?? settings.text(`${FUNQY_MAPPING}.${name}.${key}`)
    const [trigger, responseType, responseSource] = [read('trigger'), read('response-type'), read('response-source')]
    if (trigger === undefined && responseType === undefined && responseSource === undefined) continue
    mapping[name] = {
      ...(trigger === undefined ? {} : { trigger }),
      ...(responseType === undefined ? {} : { responseType }),
      ...(responseSource === undefined ? {} : { responseSource }),
    }
  }
  return mapping
}
