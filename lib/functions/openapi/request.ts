import { getOwn, isJsonObject, setOwn, type Json } from '../../common/index.ts'
import { argumentError, assertHeaderValue, assertPathValue, compileValueCheck, type ValueCheck } from './arguments.ts'
import { compileBodyWriter } from './body.ts'
import { encodeCookieValue } from './encode.ts'
import type { BodyModel, OperationModel, ParameterModel } from './model.ts'
import { compilePathTemplate, placeNames } from './path-template.ts'
import { joinQueries } from './query.ts'
import {
  compileCookieWriter,
  compileHeaderWriter,
  compilePairWriter,
  compilePathWriter,
  type PairWriter,
  type ValueWriter,
} from './serialise.ts'

/** A request without address, security and runtime headers. */
export interface BuiltRequest {
  readonly method: string
  /** Path of the operation, percent-encoded, without query. */
  readonly path: string
  /** Query without `?`; may be empty. */
  readonly query: string
  /** Header arguments; names as in the document. */
  readonly headers: Readonly<Record<string, string>>
  /** Pairs joined by `; `; may be empty. */
  readonly cookies: string
  readonly body?: string | Uint8Array
  /** Media type of the body. */
  readonly contentType?: string
}

/** Builds the requests of one operation. */
export interface RequestBuilder {
  /**
   * Builds a request from the arguments of a call. Pure; builds nothing that could have been built at load.
   *
   * @throws {@link FunctionError} `FUNCTION_ARGUMENT_INVALID` naming parameter and place
   */
  build(args: Json | undefined): BuiltRequest
}

/** Options of {@link compileRequestBuilder}. */
export interface RequestBuilderOptions {
  /** Called with the names of arguments that the operation does not know. @default the call is refused */
  readonly onUnknown?: (names: readonly string[]) => void
  /** Further checks of parameter values and of the body (`sonatina.openapi.validate-arguments`); each throws. */
  readonly validate?: {
    readonly parameter: (parameter: ParameterModel) => ValueCheck
    readonly body: ValueCheck
  }
}

/** A parameter with everything that writing it needs. */
interface Slot {
  readonly parameter: ParameterModel
  readonly check: ValueCheck
  /** `<place>.<name>`: addresses one of several parameters of one name. */
  readonly qualified: string
  readonly write: (value: Json, draft: Draft) => void
}

/** Pieces of a request under construction. */
interface Draft {
  query: string
  headers: Record<string, string>
  cookies: string
  form: Record<string, unknown> | undefined
  readonly path: (string | undefined)[]
}

const IGNORED_HEADERS = new Set(['accept', 'content-type', 'authorization'])
const EMPTY: Readonly<Record<string, Json>> = {}

/** Compiles the request builder of an operation (openapi-functions.md §2 and §6). */
export function compileRequestBuilder(operation: OperationModel, options: RequestBuilderOptions = {}): RequestBuilder {
  const slots = operation.parameters
    .filter((parameter) => !(parameter.in === 'header' && IGNORED_HEADERS.has(parameter.name.toLowerCase())))
    .map((parameter) => toSlot(operation, parameter, options))
  const template = compilePathTemplate(operation.path)
  const chooseBody = compileBodyChoice(operation, slots, options)
  const writeBody = operation.body === undefined ? undefined : compileBodyWriter(operation.body)
  const { method } = operation
  return {
    build(args) {
      const named = isJsonObject(args) ? args : EMPTY
      const draft: Draft = { query: '', headers: {}, cookies: '', form: undefined, path: new Array<string | undefined>(template.names.length) }
      for (const slot of slots) fill(operation, slot, { named, draft })
      const body = chooseBody(args, draft)
      const joined = template.join(draft.path)
      if ('problem' in joined) throw argumentError(operation, joined.problem)
      const { query, headers, cookies } = draft
      const request = { method, path: joined.path, query: joinQueries(template.query, query), headers, cookies }
      return body === undefined || writeBody === undefined ? request : { ...request, ...writeBody(body) }
    },
  }
}

/** Writes one parameter into the draft, when it is given or has a default. */
function fill(operation: OperationModel, slot: Slot, { named, draft }: { readonly named: Readonly<Record<string, Json>>; readonly draft: Draft }): void {
  const given = read(named, slot)
  if (given !== undefined && given !== null) slot.write(slot.check(given), draft)
  else if (slot.parameter.required) throw argumentError(operation, `required ${slot.parameter.in} parameter "${slot.parameter.name}" is not given`)
}

/** Compiles what of the arguments is the body: the whole value, the fields of a form, or what no parameter has taken. */
function compileBodyChoice(operation: OperationModel, slots: readonly Slot[], options: RequestBuilderOptions): (args: Json | undefined, draft: Draft) => Json | undefined {
  const { body } = operation
  const known = new Set([...operation.parameters.map((parameter) => parameter.name), ...slots.map((slot) => slot.qualified)])
  const isForm = operation.parameters.some((parameter) => parameter.in === 'form')
  const takesRest = body !== undefined && !isForm
  // A single value can be the body only where nothing else must be told from it.
  const takesWhole = takesRest && slots.every((slot) => !slot.parameter.required)
  const validate = options.validate?.body ?? asItIs
  const choose = (args: Json | undefined, draft: Draft): Json | undefined => {
    if (args === undefined || args === null) return draft.form as Json | undefined
    if (!isJsonObject(args)) {
      if (takesWhole) return args
      throw argumentError(operation, 'takes named arguments (an object); a single value is possible only for an operation with a body and no required parameter')
    }
    const rest = restOf(args, known)
    if (rest !== undefined && !takesRest) refuseUnknown(operation, Object.keys(rest), options)
    return takesRest ? unwrap(body, rest) : draft.form as Json | undefined
  }
  return (args, draft) => {
    const chosen = choose(args, draft)
    if (chosen !== undefined && chosen !== null) return validate(chosen)
    if (body?.required === true) throw argumentError(operation, 'the required body is not given; name its properties in the arguments')
    return undefined
  }
}

function asItIs(value: Json): Json {
  return value
}

function toSlot(operation: OperationModel, parameter: ParameterModel, options: RequestBuilderOptions): Slot {
  const check = compileValueCheck(operation, parameter)
  const validate = options.validate?.parameter(parameter)
  return {
    parameter,
    check: validate === undefined ? check : (value) => validate(check(value)),
    qualified: `${parameter.in}.${parameter.name}`,
    write: compileSlotWriter(operation, parameter),
  }
}

function compileSlotWriter(operation: OperationModel, parameter: ParameterModel): (value: Json, draft: Draft) => void {
  const { name } = parameter
  switch (parameter.in) {
    case 'path': {
      const write = compilePathWriter(parameter)
      const places = placeNames(operation.path).flatMap((other, index) => other === name ? [index] : [])
      return (value, draft) => {
        const written = write(value)
        assertPathValue(operation, name, { value, written })
        for (const place of places) draft.path[place] = written
      }
    }
    case 'query': {
      const write: PairWriter = compilePairWriter(parameter)
      return (value, draft) => { draft.query = write(value, draft.query) }
    }
    case 'header': {
      const write: ValueWriter = compileHeaderWriter(parameter)
      return (value, draft) => {
        const written = write(value)
        assertHeaderValue(operation, `header parameter "${name}"`, written)
        draft.headers[name] = written
      }
    }
    case 'cookie': {
      const write: ValueWriter = compileCookieWriter(parameter)
      return (value, draft) => {
        const pair = `${name}=${encodeCookieValue(write(value))}`
        draft.cookies = draft.cookies === '' ? pair : `${draft.cookies}; ${pair}`
      }
    }
    case 'form':
      return (value, draft) => {
        draft.form ??= {}
        setOwn(draft.form, name, value)
      }
  }
}


function restOf(named: Readonly<Record<string, Json>>, known: ReadonlySet<string>): Record<string, Json> | undefined {
  let rest: Record<string, Json> | undefined
  for (const name of Object.keys(named)) {
    if (known.has(name)) continue
    const value = getOwn(named, name) as Json | undefined
    if (value === undefined) continue
    rest ??= {}
    setOwn(rest, name, value)
  }
  return rest
}

/** Value of a parameter; an explicit null means "not given" and also keeps the default away, as in swagger-client. */
function read(named: Readonly<Record<string, Json>>, { parameter, qualified }: Slot): Json | undefined {
  const plain = getOwn(named, parameter.name) as Json | undefined
  if (plain !== undefined) return plain
  const addressed = getOwn(named, qualified) as Json | undefined
  return addressed === undefined ? parameter.default : addressed
}

/** What is left is the body, or holds it under a name of its own. */
function unwrap(body: BodyModel, rest: Record<string, Json> | undefined): Json | undefined {
  if (rest === undefined) return undefined
  const names = Object.keys(rest)
  const [only] = names
  return names.length === 1 && only !== undefined && wrapsBody(body, only) ? rest[only] : rest
}

/** Tells whether an argument of this name, when it is the only one left, is the body itself and not a property of it. */
function wrapsBody(body: BodyModel, name: string): boolean {
  if (name === body.name) return true
  if (name !== 'body') return false
  const properties = body.schema === true ? undefined : body.schema['properties']
  return !(isJsonObject(properties) && Object.hasOwn(properties, 'body'))
}

function refuseUnknown(operation: OperationModel, names: readonly string[], options: RequestBuilderOptions): void {
  if (options.onUnknown !== undefined) {
    options.onUnknown(names)
    return
  }
  const known = operation.parameters.map((parameter) => `${parameter.name} (${parameter.in})`).join(', ')
  const list = names.map((name) => `"${name}"`).join(', ')
  throw argumentError(operation, `does not know the arguments ${list}; it has ${known === '' ? 'no parameters' : `the parameters ${known}`} and takes nothing else`)
}
