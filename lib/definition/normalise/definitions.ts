import { compact, isJsonObject, type JsonObject } from '../../common/index.ts'
import type {
  AuthDefinition, DataSchema, ErrorDefinition, EventDefinition, FunctionDefinition, FunctionType, RetryDefinition, Schedule, Start,
} from '../types.ts'
import {
  isNumeric, readFlag, readMilliseconds, readName, readNumber, readObject, readObjects, readText, readWord, type ReadContext,
} from './read.ts'

/** Kinds of functions (S116). */
const FUNCTION_TYPES = ['rest', 'asyncapi', 'rpc', 'graphql', 'odata', 'expression', 'custom'] as const satisfies readonly FunctionType[]

/** Writes out a function; `rest` when no type is given (S115). */
export function normaliseFunction(source: JsonObject): FunctionDefinition {
  return compact({
    name: readName(source['name']) ?? '',
    type: readWord(source['type'], FUNCTION_TYPES, 'rest'),
    operation: readText(source['operation']) ?? '',
    authRef: readName(source['authRef']),
    metadata: readObject(source['metadata']),
  })
}

/** Writes out an event; consumed and data only when not said otherwise (S130, S133). */
export function normaliseEvent(source: JsonObject): EventDefinition {
  return compact({
    name: readName(source['name']) ?? '',
    type: readName(source['type']) ?? '',
    source: readName(source['source']),
    kind: readWord(source['kind'], ['consumed', 'produced'], 'consumed'),
    dataOnly: readFlag(source['dataOnly'], true),
    correlation: readObjects(source['correlation']).map((rule) => compact({
      contextAttributeName: readName(rule['contextAttributeName']) ?? '',
      contextAttributeValue: readText(rule['contextAttributeValue']),
    })),
    metadata: readObject(source['metadata']),
  })
}

/** Writes out an error; without a name its code is its name. */
export function normaliseError(source: JsonObject): ErrorDefinition {
  const code = readName(source['code'])
  return compact({ name: readName(source['name']) ?? code ?? '', code, description: readText(source['description']) })
}

/** Writes out a retry strategy; durations become milliseconds, numbers in text become numbers (S211–S217). */
export function normaliseRetry(source: JsonObject, context: ReadContext): RetryDefinition {
  return compact({
    name: readName(source['name']) ?? '',
    delay: readMilliseconds(source['delay'], context) ?? 0,
    maxDelay: readMilliseconds(source['maxDelay'], context),
    increment: readMilliseconds(source['increment'], context) ?? 0,
    multiplier: readNumber(source['multiplier']) ?? 1,
    maxAttempts: readNumber(source['maxAttempts']),
    jitter: readJitter(source['jitter'], context),
  })
}

/** Writes out an auth definition; `basic` when no scheme is given (S283). */
export function normaliseAuth(source: JsonObject): AuthDefinition {
  const properties = source['properties']
  return {
    name: readName(source['name']) ?? '',
    scheme: readWord(source['scheme'], ['basic', 'bearer', 'oauth2'], 'basic'),
    properties: typeof properties === 'string' ? properties : readObject(properties),
  }
}

/** Writes out the start; absent, it is the first state (S009). */
export function normaliseStart(source: unknown, firstState: string): Start {
  const stateName = isJsonObject(source) ? readName(source['stateName']) : readName(source)
  return compact({ stateName: stateName ?? firstState, schedule: isJsonObject(source) ? readSchedule(source['schedule']) : undefined })
}

/** Writes out a data schema whose reference has been resolved (S023, S024). */
export function normaliseDataSchema(source: unknown): DataSchema | undefined {
  if (!isJsonObject(source)) return undefined
  const { schema } = source
  if (typeof schema !== 'boolean' && !isJsonObject(schema)) return undefined
  return compact({
    schema,
    failOnValidationErrors: readFlag(source['failOnValidationErrors'], true),
    uri: readText(source['uri']),
  })
}

function readSchedule(source: unknown): Schedule | undefined {
  if (typeof source === 'string') return { interval: source.trim(), timezone: 'UTC' }
  if (!isJsonObject(source)) return undefined
  const cron = typeof source['cron'] === 'string' ? { expression: source['cron'] } : source['cron']
  return compact({
    interval: readName(source['interval']),
    cron: isJsonObject(cron)
      ? compact({ expression: readName(cron['expression']) ?? '', validUntil: readName(cron['validUntil']) })
      : undefined,
    timezone: readName(source['timezone']) ?? 'UTC',
  })
}

function readJitter(value: unknown, context: ReadContext): RetryDefinition['jitter'] | undefined {
  if (typeof value === 'number') return { share: value }
  if (typeof value === 'string' && isNumeric(value)) return { share: Number(value) }
  // A normalised definition holds one of the two forms already.
  if (isJsonObject(value)) {
    const { share, absolute } = value
    return typeof share === 'number' ? { share } : typeof absolute === 'number' ? { absolute } : undefined
  }
  const absolute = readMilliseconds(value, context)
  return absolute === undefined ? undefined : { absolute }
}
