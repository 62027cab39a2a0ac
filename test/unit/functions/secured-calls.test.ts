import { expect } from 'chai'
import path from 'node:path'
import { createAuthorizer } from '../../../lib/auth/index.ts'
import { createLogger, createRandomIdSource, createSystemClock } from '../../../lib/common/index.ts'
import { startDevServices, type DevServices } from '../../../lib/dev-services/index.ts'
import type { FunctionCall, FunctionResult } from '../../../lib/functions/index.ts'
import { createHttpClients } from '../../../lib/http-client/index.ts'
import { callOf, createTestCompiler, settingsOf, startRecordingServer } from './support.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const SECRET = 'm4rked-secret'

describe('functions with security', function () {
  this.timeout(60_000)
  let services: DevServices
  before(async () => { services = await startDevServices({ clientSecret: SECRET, clientId: 'm4rked-client' }) })
  after(() => services.close())

  /** Calls exchangeRate of the reference document with everything real; gives the outcome and all that was written about it. */
  async function call(config: Readonly<Record<string, unknown>> = {}, times = 1): Promise<{ outcomes: unknown[]; log: string }> {
    const lines: string[] = []
    const log = createLogger({ level: 'trace', write: (line) => lines.push(line) })
    const clock = createSystemClock()
    const ids = createRandomIdSource()
    const settings = await settingsOf({
      'sonatina.rest-client.acme_financial_service_yml.url': services.acme.url,
      'sonatina.oidc-client.acme_financial_oauth.token-path': services.authorizationServer.tokenUrl,
      'sonatina.oidc-client.acme_financial_oauth.client-id': 'm4rked-client',
      'sonatina.oidc-client.acme_financial_oauth.credentials.secret': SECRET,
      'sonatina.log.category.http-client.level': 'DEBUG',
      ...config,
    })
    const httpClients = createHttpClients({ settings, clock, log })
    const authorizer = createAuthorizer({ settings, clients: httpClients, clock, ids, log })
    try {
      await using compiler = await createTestCompiler({ root, settings, clock, ids, log, httpClients, authorizer })
      const invoker = await compiler.compile({ type: 'rest', operation: 'specs/acme-financial-service.yml#exchangeRate' })
      const request = (): FunctionCall => callOf({ currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10' }, { context: { log, headers: { authorization: 'Bearer m4rked-inbound' } } })
      const outcomes = await Promise.all(Array.from({ length: times }, () => Promise.resolve().then(() => invoker.invoke(request())).catch((error: unknown) => error)))
      return { outcomes, log: lines.join('') }
    } finally {
      authorizer.close()
    }
  }

  it('reach the service with a token of a real authorization server', async () => {
    const { outcomes: [result] } = await call()
    expect((result as FunctionResult).output).to.deep.equal({ rate: 1.0578 })
  })

  it('share one token among many calls', async () => {
    const { outcomes, log } = await call({}, 200)
    expect(outcomes.every((outcome) => (outcome as FunctionResult).output !== undefined)).to.equal(true)
    expect(log.match(/token request/g)?.length ?? 0).to.be.lessThan(5)
  })

  it('fail with AUTH_FAILED for a wrong secret, a missing client, and a token server that is away', async () => {
    for (const config of [
      { 'sonatina.oidc-client.acme_financial_oauth.credentials.secret': 'm4rked-wrong' },
      { 'sonatina.oidc-client.acme_financial_oauth.client-id': '' },
      { 'sonatina.oidc-client.acme_financial_oauth.token-path': 'http://127.0.0.1:1/token' },
    ]) {
      const { outcomes: [error] } = await call(config)
      expect(error, JSON.stringify(config)).to.include({ code: 'AUTH_FAILED' })
      expect(String(error)).not.to.include('m4rked-')
    }
  })

  it('tell no secret, token or inbound credential in any log, error or result', async () => {
    const seen: string[] = []
    for (const config of [{}, { 'sonatina.oidc-client.acme_financial_oauth.credentials.secret': 'm4rked-wrong' }, { 'sonatina.rest-client.acme_financial_service_yml.url': 'http://127.0.0.1:1' }]) {
      const { outcomes, log } = await call(config)
      seen.push(log, ...outcomes.map((outcome) => outcome instanceof Error ? `${outcome.stack ?? ''} ${JSON.stringify(outcome)}` : JSON.stringify(outcome)))
    }
    const text = seen.join('\n')
    expect(text).to.include('exchangeRate')
    expect(text).not.to.match(/m4rked-(secret|wrong|inbound)/)
    expect(text).not.to.match(/Bearer [A-Za-z0-9]/)
    expect(text).not.to.include(Buffer.from(`m4rked-client:${SECRET}`).toString('base64').slice(0, 20))
  })

  it('forward inbound headers only by the list, and never over what is fixed', async () => {
    const server = await startRecordingServer()
    try {
      await using compiler = await createTestCompiler({
        root,
        config: {
          'sonatina.rest-client.acme_financial_service_yml.url': server.url,
          'sonatina.rest-client.acme_financial_service_yml.headers.X-Fixed': 'ours',
          'sonatina.headers.forward': 'X-Tenant,X-Fixed',
          'sonatina.headers.kogito': 'true',
        },
      })
      const invoker = await compiler.compile({ type: 'rest', operation: 'specs/acme-financial-service.yml#exchangeRate' })
      await invoker.invoke(callOf({}, { context: { workflowId: 'Bestellung ä', headers: { 'x-tenant': 'a', 'x-fixed': 'theirs', 'x-other': 'b', authorization: 'Bearer x' }, businessKey: 'k ä', parentInstanceId: 'p-1' } }))
      const [request] = server.requests
      expect(request?.headers).to.include({ 'x-tenant': 'a', 'x-fixed': 'ours', wfprocid: 'Bestellung%20%C3%A4', kogitoprocid: 'Bestellung%20%C3%A4', kogitobusinesskey: 'k%20%C3%A4', kogitoparentprociid: 'p-1' })
      expect(request?.headers).not.to.have.any.keys('x-other', 'authorization')
    } finally {
      await server.close()
    }
  })
})
