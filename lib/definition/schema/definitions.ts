import { ANY_TEXT, DURATION, NUMBER_OR_EXPRESSION, ref, TEXT, type Builder, type Schema } from './build.ts'

/** Schemas of functions, events, errors, retries, auth and data schemas (G13, G14, G19, G25). */
export function definitionSchemas(build: Builder): Readonly<Record<string, Schema>> {
  const { object, list, flag, tolerate } = build
  return {
    function: object({
      name: TEXT,
      operation: TEXT,
      type: { enum: ['rest', 'asyncapi', 'rpc', 'graphql', 'odata', 'expression', 'custom'] },
      authRef: TEXT,
      metadata: ref('metadata'),
    }, ['name', 'operation']),
    event: object({
      name: TEXT,
      source: tolerate('empty-source', ANY_TEXT, { type: ['string', 'null'] }),
      type: TEXT,
      kind: { enum: ['consumed', 'produced'] },
      correlation: list(ref('correlation'), 1),
      dataOnly: flag,
      metadata: ref('metadata'),
    }, ['name', 'type']),
    correlation: object({ contextAttributeName: TEXT, contextAttributeValue: TEXT }, ['contextAttributeName']),
    error: object({ name: TEXT, code: TEXT, description: ANY_TEXT }, ['name'], { absent: { name: 'missing-error-name' } }),
    retry: object({
      name: TEXT,
      delay: DURATION,
      maxDelay: DURATION,
      increment: DURATION,
      multiplier: NUMBER_OR_EXPRESSION,
      maxAttempts: NUMBER_OR_EXPRESSION,
      jitter: NUMBER_OR_EXPRESSION,
    }, ['name', 'maxAttempts'], { absent: { maxAttempts: 'missing-max-attempts' } }),
    auth: object({
      name: TEXT,
      scheme: { enum: ['basic', 'bearer', 'oauth2'] },
      properties: { ...authProperties(build), type: ['string', 'object'], minLength: 1 },
    }, ['name', 'properties'], { open: true }),
    dataSchema: build.textOr(object({
      schema: tolerate('inline-schema', TEXT, { type: ['string', 'object', 'boolean'], minLength: 1 }),
      failOnValidationErrors: flag,
    }, ['schema', 'failOnValidationErrors'], {
      absent: { failOnValidationErrors: 'missing-fail-on-validation-errors' },
      // Written by the loader: the reference that the schema came from.
      extra: { uri: { tolerance: 'inline-schema', schema: ANY_TEXT } },
    })),
    metadata: { type: 'object', additionalProperties: tolerate('metadata-value', ANY_TEXT, {}) },
  }
}

// One object for the three schemes; which properties belong to which is a matter of meaning (S283), told with better
// words.
function authProperties({ object, list }: Builder): Schema {
  return object({
    username: TEXT,
    password: TEXT,
    token: TEXT,
    authority: TEXT,
    grantType: { enum: ['password', 'clientCredentials', 'tokenExchange'] },
    clientId: TEXT,
    clientSecret: TEXT,
    scopes: list(ANY_TEXT, 1),
    audiences: list(ANY_TEXT, 1),
    subjectToken: TEXT,
    requestedSubject: TEXT,
    requestedIssuer: TEXT,
    metadata: ref('metadata'),
  }, [], { open: true })
}
