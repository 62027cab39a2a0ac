import { isJsonObject, toPointer } from '../../common/index.ts'
import type { AuthDefinition, FunctionDefinition, FunctionType } from '../types.ts'
import { actionsOf, statePointer } from '../walk.ts'
import type { SemanticScope } from './scope.ts'

/** Form of the operation of each function type, with an example (S117–S125). */
const OPERATIONS: Readonly<Record<FunctionType, { readonly form: RegExp; readonly example: string }>> = {
  rest: { form: /^[^#\s][^#]*(#[^#]*)*#[^#]+$/, example: '"specs/orders.yaml#createOrder": OpenAPI document # operationId' },
  asyncapi: { form: /^[^#\s].*#[^#]+$/, example: '"specs/orders-async.yaml#sendOrder": AsyncAPI document # operationId' },
  rpc: { form: /^[^#\s][^#]*#[^#]+#[^#]+$/, example: '"greeting.proto#Greeter#SayHello": proto file # service # method' },
  graphql: { form: /^[^#\s][^#]*#(query|mutation)#[^#]+$/, example: '"https://host/graphql#query#pet": endpoint # query or mutation # field' },
  odata: { form: /^[^#\s][^#]*#[^#]+$/, example: '"https://host/odata#Orders": service # entity set' },
  expression: { form: /\S/, example: '".items | length"' },
  custom: { form: /\S/, example: '"service:Orders::create"' },
}

/** Checks functions and how actions call them, and auth definitions (G13, G25). */
export function checkFunctions(scope: SemanticScope): void {
  const { definition, checkName, report } = scope
  const authNames = definition.auth.map(({ name }) => name)
  definition.functions.forEach((definedFunction, index) => {
    const pointer = toPointer(['functions', index])
    if (definedFunction.authRef !== undefined) {
      checkName(
        `${pointer}/authRef`,
        { kind: 'auth', name: definedFunction.authRef },
        authNames,
      )
    }
    const { form, example } = OPERATIONS[definedFunction.type]
    if (definedFunction.operation !== '' && !form.test(definedFunction.operation.trim())) {
      report(
        `${pointer}/operation`,
        `${definedFunction.operation} is no operation of a function of type ${definedFunction.type}`,
        `write it like ${example}`,
      )
    }
  })
  checkCalls(scope)
  definition.auth.forEach((auth, index) => {
    checkAuth(scope, auth, toPointer(['auth', index, 'properties']))
  })
}

function checkCalls({ definition, checkName, report }: SemanticScope): void {
  const functions = new Map(definition.functions.map((definedFunction) => [definedFunction.name, definedFunction]))
  definition.states.forEach((state, index) => {
    for (const { action, pointer } of actionsOf(state, statePointer(index))) {
      const { functionRef } = action
      if (functionRef === undefined) continue
      const called = functions.get(functionRef.refName)
      checkName(`${pointer}/functionRef`, { kind: 'function', name: functionRef.refName }, [...functions.keys()])
      if (called?.type === 'graphql' && (functionRef.arguments === undefined || functionRef.selectionSet === undefined)) {
        report(
          `${pointer}/functionRef`,
          `function ${called.name} is called without arguments or selectionSet`,
          'a graphql call needs both (S121)',
        )
      }
      if (called !== undefined && isPrinting(called) && functionRef.arguments === undefined) {
        report(
          `${pointer}/functionRef`,
          `Arguments cannot be null: function ${called.name} has nothing to print`,
          'give it {"message": …}',
        )
      }
    }
  })
}

function isPrinting({ type, operation }: FunctionDefinition): boolean {
  return type === 'custom' && /^sysout(:|$)/.test(operation.trim())
}

const GRANT_NEEDS: Readonly<Record<string, readonly string[]>> = {
  password: ['username', 'password'],
  clientCredentials: [],
  tokenExchange: ['subjectToken'],
}

/** The properties of an auth definition fit its scheme (S283–S290); the official schema does not tie them. */
function checkAuth({ report }: SemanticScope, { name, scheme, properties }: AuthDefinition, pointer: string): void {
  if (!isJsonObject(properties)) return
  const grant = properties['grantType']
  const needed = scheme === 'basic' ? ['username', 'password']
    : scheme === 'bearer' ? ['token']
      : ['grantType', 'clientId', ...(typeof grant === 'string' ? GRANT_NEEDS[grant] ?? [] : [])]
  const missing = needed.filter((property) => properties[property] === undefined)
  if (missing.length === 0) return
  report(
    pointer,
    `auth ${name} of scheme ${scheme} misses ${missing.join(', ')}`,
    `scheme is basic when not given; ${scheme} needs ${needed.join(', ')}`,
  )
}
