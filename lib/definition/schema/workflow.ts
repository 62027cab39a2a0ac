import { actionSchemas } from './actions.ts'
import { ANY_TEXT, createBuilder, ref, TEXT, type Builder, type Mode, type Schema } from './build.ts'
import { continuationSchemas } from './continuation.ts'
import { definitionSchemas } from './definitions.ts'
import { stateSchemas } from './states.ts'

/**
 * Creates our JSON Schema of Serverless Workflow 0.8, for documents whose external references are resolved or not.
 *
 * It says what form a document has. What goes together (one of two properties, names that exist) is said in code,
 * with better messages
 * than `oneOf` gives.
 */
export function createWorkflowSchema(mode: Mode): Schema {
  const build = createBuilder(mode)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Serverless Workflow 0.8',
    $defs: { ...stateSchemas(build), ...actionSchemas(build), ...continuationSchemas(build), ...definitionSchemas(build) },
    ...topLevel(build),
  }
}

function topLevel({ object, flag, list, tolerate }: Builder): Schema {
  // A URI of any form: `format: uri` of the official schema rejects the relative names of the specification's own
  // example (S297).
  const listOrUri = (items: Schema): Schema => tolerate(
    'empty-list',
    { type: ['array', 'string'], items, minItems: 1, minLength: 1 },
    { type: ['array', 'string'], items, minLength: 1 },
  )
  const { additionalProperties: _open, ...workflow } = object({
    id: TEXT,
    key: TEXT,
    name: TEXT,
    description: ANY_TEXT,
    version: TEXT,
    annotations: list(ANY_TEXT, 1),
    dataInputSchema: ref('dataSchema'),
    secrets: listOrUri({ type: 'string' }),
    constants: { type: ['object', 'string'] },
    start: ref('start'),
    specVersion: TEXT,
    expressionLang: TEXT,
    timeouts: ref('timeouts'),
    errors: listOrUri(ref('error')),
    keepActive: flag,
    metadata: ref('metadata'),
    events: listOrUri(ref('event')),
    functions: listOrUri(ref('function')),
    autoRetries: flag,
    retries: listOrUri(ref('retry')),
    auth: listOrUri(ref('auth')),
    states: { type: 'array', items: ref('state'), minItems: 1 },
    // SonataFlow's properties; for the specification they are additional ones (S302).
    extensions: { type: 'array', items: { type: 'object' } },
    dataOutputSchema: ref('dataSchema'),
  }, ['specVersion', 'states'], { absent: { specVersion: 'missing-spec-version' } })
  // Further properties are allowed at the workflow level, and only there (S014).
  return workflow
}
