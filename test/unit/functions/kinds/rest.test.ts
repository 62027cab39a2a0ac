import { expect } from 'chai'
import path from 'node:path'
import type { Authorizer } from '../../../../lib/auth/index.ts'
import type { FunctionResult } from '../../../../lib/functions/index.ts'
import { callOf, createTestCompiler, noAuthorizer, respond, startRecordingServer, type RecordingServer } from '../support.ts'

const root = path.resolve(import.meta.dirname, '../../../..')

describe('functions/kinds/rest', () => {
  let server: RecordingServer
  beforeEach(async () => { server = await startRecordingServer() })
  afterEach(() => server.close())

  /** Authorizer whose tokens are numbered. */
  function countingAuthorizer(fresh = false): Authorizer & { count: number } {
    const authorizer = {
      ...noAuthorizer,
      count: 0,
      compile: () => ({
        apply: (request: { headers: Record<string, string> }) => {
          authorizer.count += 1
          request.headers['Authorization'] = `Bearer token-${String(authorizer.count)}`
          return Promise.resolve()
        },
        renew: () => !fresh,
      }),
    }
    return authorizer
  }

  async function callExchangeRate(authorizer: Authorizer = noAuthorizer): Promise<FunctionResult> {
    await using compiler = await createTestCompiler({ root, authorizer, config: { 'sonatina.rest-client.acme_financial_service_yml.url': server.url } })
    const invoker = await compiler.compile({ type: 'rest', operation: 'specs/acme-financial-service.yml#exchangeRate' }, { workflowId: 'currency_exchange_workflow' })
    const context = { workflowId: 'currency_exchange_workflow' }
    return await invoker.invoke(callOf({ currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10' }, { context }))
  }

  it('calls exchangeRate as the requirement has it', async () => {
    server.answer = (_request, response) => { respond(response, 200, { rate: 1.0578 }) }
    const result = await callExchangeRate(countingAuthorizer())
    expect(result.output).to.deep.equal({ rate: 1.0578 })
    expect(result.response).to.include({ statusCode: 200, statusMessage: 'OK' })
    const [request] = server.requests
    expect(request?.method).to.equal('GET')
    expect(request?.target).to.equal('/financial-service/exchange-rate?currencyFrom=EUR&currencyTo=USD&exchangeDate=2022-06-10')
    expect(request?.headers).to.include({
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: 'Bearer token-1',
      wfprocid: 'currency_exchange_workflow',
      wfprocinstanceid: 'i-1',
      wfprocist: 'Active',
      wfproctype: 'SW',
      wfprocversion: '1.0',
    })
    expect(request?.headers).not.to.have.property('idempotency-key')
    expect(request?.headers).not.to.have.property('kogitoprocid')
    expect(request?.body.length).to.equal(0)
  })

  it('renews the token once after 401 and repeats the call', async () => {
    server.answer = (_request, response) => { respond(response, server.requests.length === 1 ? 401 : 200, { rate: 1 }) }
    expect((await callExchangeRate(countingAuthorizer())).output).to.deep.equal({ rate: 1 })
    expect(server.requests.map((request) => request.headers.authorization)).to.deep.equal(['Bearer token-1', 'Bearer token-2'])
  })

  it('gives the second 401 as the result, and does not repeat with a token that is fresh', async () => {
    server.answer = (_request, response) => { respond(response, 401, { error: 'no' }) }
    expect(await callExchangeRate(countingAuthorizer()).catch((error: unknown) => error)).to.include({ code: 'REST_STATUS', status: 401 })
    expect(server.requests).to.have.length(2)
    await callExchangeRate(countingAuthorizer(true)).catch(() => undefined)
    expect(server.requests).to.have.length(3)
  })

  it('reports a remote failure with its text and status', async () => {
    server.answer = (_request, response) => { respond(response, 503, { code: 7, message: 'closed' }, { 'retry-after': '3' }) }
    const error = await callExchangeRate().catch((caught: unknown) => caught)
    expect(error).to.include({ code: 'REST_STATUS', status: 503, retryable: true, retryAfter: 3000, message: '{"code":7,"message":"closed"}' })
    expect(JSON.stringify(error)).not.to.include('127.0.0.1')
  })
})
