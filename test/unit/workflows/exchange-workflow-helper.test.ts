import { expect } from 'chai'
import path from 'node:path'
import { loadHostClasses } from '../../../lib/functions/index.ts'
import { ExchangeWorkflowHelper } from '../../../workflows/exchange-workflow-helper.ts'
import { createVirtualClock } from '../../support/clock.ts'

const helper = new ExchangeWorkflowHelper(createVirtualClock(Date.UTC(2022, 5, 10, 23, 59, 59)))
const valid = { currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10', amount: 2 }
const supported = 'only the following currencies are supported [EUR, USD, JPY, GBP, CAD, BRL, AUD]'

describe('workflows/exchange-workflow-helper', () => {
  it('merges nothing for valid inputs', () => {
    expect(helper.validateInputs(valid)).to.deep.equal({})
  })

  const failures: readonly (readonly [Partial<typeof valid>, string])[] = [
    [{ exchangeDate: '10-06-2022' }, 'Invalid exchangeDate: 10-06-2022, a value in the YYYY-MM-DD must be used'],
    [{ exchangeDate: '2022-02-30' }, 'Invalid exchangeDate: 2022-02-30, a value in the YYYY-MM-DD must be used'],
    [{ exchangeDate: '2022-6-1' }, 'Invalid exchangeDate: 2022-6-1, a value in the YYYY-MM-DD must be used'],
    [{ exchangeDate: '' }, 'Invalid exchangeDate: , a value in the YYYY-MM-DD must be used'],
    [{ exchangeDate: '2022-06-11' }, 'Invalid exchangeDate: 2022-06-11, a value lower or equal than today: 2022-06-10 must be used'],
    [{ currencyFrom: 'MXN' }, `Invalid currencyFrom: MXN, ${supported}`],
    [{ currencyTo: 'MXN' }, `Invalid currencyTo: MXN, ${supported}`],
    [{ currencyTo: 'usd' }, `Invalid currencyTo: usd, ${supported}`],
    [{ currencyFrom: 'X', currencyTo: 'Y' }, `Invalid currencyFrom: X, ${supported}`],
    [{ exchangeDate: 'x', currencyFrom: 'X' }, 'Invalid exchangeDate: x, a value in the YYYY-MM-DD must be used'],
  ]
  for (const [change, message] of failures) {
    it(`answers ${JSON.stringify(change)} with its message`, () => {
      expect(helper.validateInputs({ ...valid, ...change })).to.deep.equal({ executionStatus: 'ERROR', executionStatusMessage: message })
    })
  }

  it('is found as a host class by its name', async () => {
    const classes = await loadHostClasses([path.resolve(import.meta.dirname, '../../../workflows/exchange-workflow-helper.ts')])
    expect([...classes.keys()]).to.deep.equal(['ExchangeWorkflowHelper'])
    expect(classes.get('ExchangeWorkflowHelper')).to.respondTo('validateInputs')
  })
})
