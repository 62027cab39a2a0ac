import { Pool } from 'undici'

// The services of the bench written by hand. `BENCH_STUB` is the remote service of W3.

const stub = process.env['BENCH_STUB']
const pool = stub === undefined ? undefined : new Pool(stub, { connections: 64 })
const CURRENCIES = new Set(['EUR', 'USD', 'JPY', 'GBP', 'CAD', 'BRL', 'AUD'])

/** Body of a request of the bench. */
export interface Input {
  readonly amount: number
  readonly exchangeRate: number
  readonly currencyFrom: string
  readonly currencyTo: string
  readonly exchangeDate: string
}

/** Gives the workflow data of each item, by path. */
export const SERVICES: Readonly<Record<string, (input: Input) => object | Promise<object>>> = {
  '/chain'(input) {
    const result = input.amount * input.exchangeRate
    if (result > 1_000_000) return { ...input, result }
    return { ...input, result, label: `${input.currencyTo} amount`, status: 'OK' }
  },
  '/parallel'(input) {
    let { result } = input as unknown as { result?: string }
    for (const letter of 'ABC') result = (result ?? '') + letter
    return { ...input, result }
  },
  async '/currency_exchange_workflow'(input) {
    if (!CURRENCIES.has(input.currencyFrom) || !CURRENCIES.has(input.currencyTo) || !/^\d{4}-\d\d-\d\d$/.test(input.exchangeDate)) {
      return { ...input, exchangeRate: null, executionStatus: 'ERROR' }
    }
    const query = `currencyFrom=${encodeURIComponent(input.currencyFrom)}&currencyTo=${encodeURIComponent(input.currencyTo)}&exchangeDate=${encodeURIComponent(input.exchangeDate)}`
    const answer = await pool?.request({
      method: 'GET',
      path: `/financial-service/exchange-rate?${query}`,
      headers: { accept: 'application/json', authorization: 'Bearer token' },
    })
    const { rate } = await answer?.body.json() as { rate: number }
    return { ...input, exchangeRate: rate, result: input.amount * rate, executionStatus: 'OK', executionStatusMessage: 'Execution successful' }
  },
}
