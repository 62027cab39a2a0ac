import { compact, type JsonObject } from '../../common/index.ts'
import type { Definition } from '../types.ts'
import { normaliseWorkflowExecTimeout } from './continuation.ts'
import {
  normaliseAuth, normaliseDataSchema, normaliseError, normaliseEvent, normaliseFunction, normaliseRetry, normaliseStart,
} from './definitions.ts'
import { readFlag, readName, readNames, readObject, readObjects, readText, readWord, type ReadContext } from './read.ts'
import { normaliseState } from './states.ts'
import { readTimeouts } from './timeouts.ts'

/** What `normalise` has to know besides the document. */
export interface NormaliseOptions {
  /** Language profile of the settings; `metadata.profile` of the definition goes first. @default 'spec' */
  readonly profile?: 'spec' | 'sonataflow'
  /** Whether parallel branches share the data (A19); `metadata.branchData` of a state goes first. @default 'shared' */
  readonly branchData?: 'shared' | 'isolated'
}

/** Finds the language profile of a document. */
function profileOf(document: JsonObject, options: NormaliseOptions): 'spec' | 'sonataflow' {
  return readWord(readObject(document['metadata'])['profile'], ['spec', 'sonataflow'], options.profile ?? 'spec')
}

/**
 * Writes out a document whose form is right, references resolved; what is wrong with its meaning is for `validate`
 * to say.
 *
 * @internal
 */
export function toDefinition(document: JsonObject, options: NormaliseOptions): Definition {
  const constants = readObject(document['constants'])
  const context: ReadContext = { constants, profile: profileOf(document, options), branchData: options.branchData ?? 'shared' }
  const timeouts = readObject(document['timeouts'])
  const stateContext = { ...context, inherited: readTimeouts(timeouts, context) }
  const states = readObjects(document['states']).map((state) => normaliseState(state, stateContext))
  const key = readName(document['key'])
  const list = (name: string): readonly JsonObject[] => readObjects(document[name])
  return compact({
    id: readName(document['id']) ?? key ?? '',
    key,
    name: readName(document['name']),
    description: readText(document['description']),
    version: readName(document['version']) ?? '1.0',
    annotations: readNames(document['annotations']),
    specVersion: readName(document['specVersion']) ?? '0.8',
    expressionLang: readWord(document['expressionLang'], ['jq', 'jsonata', 'jsonpath'], 'jq'),
    profile: context.profile,
    start: normaliseStart(document['start'], states[0]?.name ?? ''),
    dataInputSchema: normaliseDataSchema(document['dataInputSchema']),
    dataOutputSchema: normaliseDataSchema(document['dataOutputSchema']),
    constants,
    secrets: readNames(document['secrets']),
    keepActive: readFlag(document['keepActive'], false),
    autoRetries: readFlag(document['autoRetries'], false),
    functions: list('functions').map(normaliseFunction),
    events: list('events').map(normaliseEvent),
    errors: list('errors').map(normaliseError),
    retries: list('retries').map((retry) => normaliseRetry(retry, context)),
    auth: list('auth').map(normaliseAuth),
    timeouts: compact({ workflowExecTimeout: normaliseWorkflowExecTimeout(timeouts['workflowExecTimeout'], context) }),
    states,
    extensions: list('extensions'),
    metadata: readObject(document['metadata']),
  })
}
