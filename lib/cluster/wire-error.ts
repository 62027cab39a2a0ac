import {
  ConfigurationError, DataInputError, DefinitionError, EventError, ExpressionError, FunctionError, HostError, InstanceError, RequestError, SonatinaError,
} from '../errors/index.ts'
import type { WireError } from './messages.ts'

type ErrorClass = new (options: { code: never; message: string; details?: Readonly<Record<string, unknown>> }) => SonatinaError

// Their constructors differ in what details they ask for; details that were sent are those of the class.
const CLASSES = [ConfigurationError, DataInputError, DefinitionError, EventError, ExpressionError, FunctionError, HostError, InstanceError, RequestError] as unknown as readonly ErrorClass[]

/** Makes plain data of an error; what is no error of the product is a defect, told by its message. */
export function toWireError(error: unknown): WireError {
  if (SonatinaError.is(error)) return error.toJSON()
  return { name: 'Error', code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) }
}

/** Makes an error of the product from plain data, of the class that it had. */
export function fromWireError({ name, code, message, details }: WireError): SonatinaError {
  const Found = CLASSES.find((each) => each.name === name)
  if (Found === undefined) return new HostError({ code: 'HOST_BUSY', message: `Another worker failed: ${message}` })
  return new Found({ code: code as never, message, ...(details === undefined ? {} : { details }) })
}
