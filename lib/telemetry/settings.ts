import type { Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'

/** Settings of tracing (`sonatina.otel.*`). */
export interface TracingSettings {
  /** Address that spans are sent to by OTLP over HTTP, with its path. */
  readonly url: string
  /** Attributes of the resource that all spans come from. */
  readonly resource: Readonly<Record<string, string>>
  /** Part, from 0 to 1, of the traces that begin here and are recorded; a caller's decision counts more. */
  readonly ratio: number
  /** Whether spans carry events: start and end of instances and states, log lines. */
  readonly events: boolean
  /** Spans of sub-flows hang at the span of the outermost instance, as SonataFlow has them; otherwise at that of their own. */
  readonly flat: boolean
}

/**
 * Reads the settings of tracing; `undefined` where it is off.
 *
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` for an endpoint that is no http address
 */
export function resolveTracingSettings(settings: Settings): TracingSettings | undefined {
  if (!settings.boolean('sonatina.otel.enabled', false)) return undefined
  const version = settings.text('sonatina.otel.service-version')
  return {
    url: tracesUrl(settings.text('sonatina.otel.exporter.otlp.endpoint', 'http://localhost:4318')),
    resource: {
      ...Object.fromEntries((settings.list('sonatina.otel.resource.attributes') ?? []).map(pair)),
      'service.name': settings.text('sonatina.otel.service-name', 'sonatina'),
      ...(version === undefined ? {} : { 'service.version': version }),
    },
    ratio: settings.number('sonatina.otel.traces.sampler.arg', 1),
    events: settings.boolean('sonatina.otel.events.enabled', true),
    flat: settings.languageProfile === 'sonataflow',
  }
}

function tracesUrl(endpoint: string): string {
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_INVALID',
      message: 'sonatina.otel.exporter.otlp.endpoint is no http or https address; set it to one such as http://localhost:4318',
    })
  }
  return endpoint.endsWith('/v1/traces') ? endpoint : `${endpoint.replace(/\/+$/, '')}/v1/traces`
}

function pair(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
  throw new ConfigurationError({
    code: 'CONFIGURATION_INVALID',
    message: `sonatina.otel.resource.attributes has the entry "${text}"; write each one as name=value`,
  })
}
