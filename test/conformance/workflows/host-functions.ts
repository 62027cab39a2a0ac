import { randomUUID } from 'node:crypto'
import { valueAt } from './body-path.ts'
import type { CustomFunction, Fields } from './case-file.ts'
import { CaseFault } from './case-fault.ts'

/** What accompanies a call of a host function. */
interface HostCall {
  readonly instanceId: string
  /** Milliseconds since the epoch, on the clock of the case. */
  readonly now: number
  /** Writes a line to the log of the case. */
  readonly log: (text: string) => void
}

/** A host function: gets the arguments, or the whole data when the action names none. */
export type HostFunction = (data: unknown, call: HostCall) => unknown

const CURRENCIES = ['EUR', 'USD', 'JPY', 'GBP', 'CAD', 'BRL', 'AUD']

/** One implementation for each operation that the cases describe in words; `operation name` where the operation says too little. */
const FUNCTIONS: Readonly<Record<string, HostFunction>> = {
  'service:java:org.kie.kogito.examples.PrintService::printKogitoProcessId': (data, { instanceId, log }) => {
    log(`Workflow data ${JSON.stringify(data)}, KogitoProcessInstanceId ${instanceId}`)
  },
  'service:java:org.kie.kogito.examples.EventsService::complete': (data, { log }) => {
    log(`complete ${JSON.stringify(data)}`)
  },
  'service:org.kie.kogito.examples.ExchangeWorkflowHelper::validateInputs': validateInputs,
  'service:java:org.acme.QueryAnswerServiceHelper::registerQuery': storeQuietly,
  'service:java:org.acme.QueryAnswerServiceHelper::registerAnswer': storeQuietly,
  'service:java:org.acme.QueryAnswerServiceHelper::registerError': storeQuietly,
  'service:org.kie.kogito.examples.StockService::reserveStock': book('StockService'),
  'service:org.kie.kogito.examples.PaymentService::processPayment': book('PaymentService'),
  'service:org.kie.kogito.examples.ShippingService::scheduleShipping': book('ShippingService'),
  'service:org.kie.kogito.examples.StockService::cancelStock': (data) => outcome('SUCCESS', field(data, 'stockId')),
  'service:org.kie.kogito.examples.PaymentService::cancelPayment': (data) => outcome('SUCCESS', field(data, 'paymentId')),
  'service:org.kie.kogito.examples.ShippingService::cancelShipping': (data) => outcome('SUCCESS', field(data, 'shippingId')),
  'service:org.kie.kogito.examples.OrderService::success': (data) => outcome('SUCCESS', field(data, 'orderId')),
  'service:org.kie.kogito.examples.OrderService::failure': (data) => outcome('ERROR', field(data, 'orderId')),
  'service:org.kogito.serverless.examples.CountriesClassifierResource::classifySmallMedium': classify('Small/Medium'),
  'service:org.kogito.serverless.examples.CountriesClassifierResource::classifyLarge': classify('Large'),
  'service:org.kie.kogito.codegen.data.HelloService::jsonHello': (data) => ({ result: `Hello ${String(field(data, 'name'))}` }),
  'service:java:org.kie.kogito.workflows.services.EvenService::isEven': (data) => {
    if (Number(only(data)) % 2 !== 0) throw named('java.lang.IllegalArgumentException', 'Odd situation')
  },
  'service:org.kie.kogito.workflows.services.PersonService::from': (data) => ({ name: `${String(only(data))}Person` }),
  'service:org.kie.kogito.workflows.services.AgePersonService::createFrom': createPerson,
  'service:org.kie.kogito.workflows.services.SquareService::squareAll': (data) =>
    (Array.isArray(data) ? data : only(data) as readonly number[]).map((number: number) => number * number),
  'rpc:division': (data) => {
    const [dividend, divisor] = values(data).map(Number)
    return Math.trunc((dividend ?? Number.NaN) / (divisor ?? Number.NaN))
  },
  'ansible:doSomething': () => ({ name: 'John' }),
  'jwt-parser:extractUser': (data) => {
    const payload = String(only(data)).replace(/^Bearer /i, '').split('.')[1] ?? ''
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as unknown
  },
  'java double': (data) => Number(only(data)) * 2,
  'java half': (data) => Number(only(data)) / 2,
  'java multiply': (data) => values(data).map(Number).reduce((product, factor) => product * factor, 1),
}

/** Finds the implementation of a host function; those of the corpus folder win. */
export function findHostFunction({ operation, name }: CustomFunction, own: Readonly<Record<string, HostFunction>>): HostFunction {
  const found = own[operation] ?? own[`${operation} ${name}`] ?? FUNCTIONS[operation] ?? FUNCTIONS[`${operation} ${name}`]
  if (found === undefined) {
    throw new CaseFault(`nobody implements the host function "${operation}" (${name}); add it to host-functions.mjs of the corpus folder`)
  }
  return found
}

function validateInputs(data: unknown, { now }: HostCall): unknown {
  const today = new Date(now).toISOString().slice(0, 10)
  const date = String(field(data, 'exchangeDate'))
  const instant = Date.parse(`${date}T00:00:00Z`)
  const isDate = /^\d{4}-\d\d-\d\d$/.test(date) && !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(date)
  if (!isDate) return invalid(`Invalid exchangeDate: ${date}, a value in the YYYY-MM-DD must be used`)
  if (date > today) return invalid(`Invalid exchangeDate: ${date}, a value lower or equal than today: ${today} must be used`)
  for (const name of ['currencyFrom', 'currencyTo']) {
    const currency = String(field(data, name))
    if (!CURRENCIES.includes(currency)) {
      return invalid(`Invalid ${name}: ${currency}, only the following currencies are supported [${CURRENCIES.join(', ')}]`)
    }
  }
  return { executionStatus: null, executionStatusMessage: null }
}

function invalid(text: string): Fields {
  return { executionStatus: 'ERROR', executionStatusMessage: text }
}

// What a service keeps for itself; steps check the call.
function storeQuietly(): undefined {
  return undefined
}

function book(service: string): HostFunction {
  return (data) => {
    if (field(data, 'failService') === service) {
      throw named('org.kie.kogito.examples.ServiceException', `Error executing ${service} for ${String(field(data, 'orderId'))}`)
    }
    return outcome('SUCCESS', randomUUID())
  }
}

function outcome(type: string, resourceId: unknown): Fields {
  return { type, resourceId: resourceId ?? null }
}

function classify(classifier: string): HostFunction {
  return (data) => {
    const country = (valueAt(data, 'response[0]') ?? {}) as Fields
    const known = ['name', 'alpha2Code', 'capital', 'region', 'population', 'currencies'].filter((name) => country[name] !== undefined)
    return { ...Object.fromEntries(known.map((name) => [name, country[name]])), classifier }
  }
}

function createPerson(data: unknown): unknown {
  const [name, age, income, date, cardId, discount, enabled] = values(data)
  const basicDataPerson = { cardId, discount, count: age, enabled, birthDate: date }
  return { name: `${String(name)}Person`, age, income, creationDate: date, basicDataPerson }
}

function field(data: unknown, name: string): unknown {
  return valueAt(data, `'${name}'`)
}

/** The argument of a function that has one, however it was handed over. */
function only(data: unknown): unknown {
  return values(data)[0]
}

function values(data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data
  return typeof data === 'object' && data !== null ? Object.values(data) : [data]
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name })
}
