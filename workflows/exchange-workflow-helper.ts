import { createSystemClock, type Clock } from '../lib/common/index.ts'

/** Arguments of {@link ExchangeWorkflowHelper.validateInputs}, as the workflow names them. */
export interface ExchangeInputs {
  readonly currencyFrom: string
  readonly currencyTo: string
  /** `YYYY-MM-DD`. */
  readonly exchangeDate: string
  readonly amount: number
}

/** What is merged into the workflow data: nothing when the inputs are valid. */
export interface ExchangeValidation {
  readonly executionStatus?: 'ERROR'
  readonly executionStatusMessage?: string
}

const CURRENCIES = ['EUR', 'USD', 'JPY', 'GBP', 'CAD', 'BRL', 'AUD']

/** Host class of the currency exchange workflow: `service:ExchangeWorkflowHelper::validateInputs`. */
export class ExchangeWorkflowHelper {
  /** Methods that change nothing outside: no store need be written before their calls. */
  static readonly pure = ['validateInputs']

  readonly #clock: Clock

  constructor(clock: Clock = createSystemClock()) {
    this.#clock = clock
  }

  /**
   * Checks the inputs in the order date form, date not after today (UTC), currencyFrom, currencyTo; the first that fails is told.
   * Codes are compared exactly: `usd` is not supported.
   */
  validateInputs({ currencyFrom, currencyTo, exchangeDate }: ExchangeInputs): ExchangeValidation {
    if (!isDate(exchangeDate)) return failure(`Invalid exchangeDate: ${exchangeDate}, a value in the YYYY-MM-DD must be used`)
    const today = new Date(this.#clock.now()).toISOString().slice(0, 10)
    // Dates of this form sort as text.
    if (exchangeDate > today) return failure(`Invalid exchangeDate: ${exchangeDate}, a value lower or equal than today: ${today} must be used`)
    return checkCurrency('currencyFrom', currencyFrom) ?? checkCurrency('currencyTo', currencyTo) ?? {}
  }
}

function checkCurrency(name: string, currency: string): ExchangeValidation | undefined {
  if (CURRENCIES.includes(currency)) return undefined
  return failure(`Invalid ${name}: ${currency}, only the following currencies are supported [${CURRENCIES.join(', ')}]`)
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

function failure(message: string): ExchangeValidation {
  return { executionStatus: 'ERROR', executionStatusMessage: message }
}
