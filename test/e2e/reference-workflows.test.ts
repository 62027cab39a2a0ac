import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { silentLogger, type Json, type JsonObject } from '../../lib/common/index.ts'
import { exchangeRate, startDevServices, type DevServices } from '../../lib/dev-services/index.ts'
import type { Runtime, RuntimeOptions } from '../../lib/runtime-options.ts'
import { createRuntime } from '../../lib/runtime.ts'
import { ExchangeWorkflowHelper } from '../../workflows/exchange-workflow-helper.ts'
import { defaultCorpus, isFolder, missingCorpusLine } from '../conformance/corpus.ts'
import { startOAuthServer, type OAuthServer } from '../support/oauth-server.ts'

const root = join(import.meta.dirname, '../..')
const INPUT = { currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10', amount: 2 }
const UNREACHABLE = 'Execution failed: The acme-financial-service invocation has failed, check that the service is running and that you have configured the OAuth2 client properly'
const CURRENCIES = '[EUR, USD, JPY, GBP, CAD, BRL, AUD]'

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: { readonly id: string; readonly workflowdata: JsonObject }
}

/** A runtime that listens. */
class Service {
  readonly runtime: Runtime
  readonly url: string

  private constructor(runtime: Runtime, url: string) {
    this.runtime = runtime
    this.url = url
  }

  static async open(options: RuntimeOptions): Promise<Service> {
    const runtime = await createRuntime({ root, log: silentLogger, profile: 'prod', environment: {}, ...options, settings: { 'sonatina.store': 'memory', ...options.settings } })
    const { url } = await runtime.listen({ host: '127.0.0.1', port: 0 })
    return new Service(runtime, url)
  }

  async post(path: string, body: Json | string): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: await response.json() as Answer['body'] }
  }

  close(): Promise<void> {
    return this.runtime.close(1000)
  }
}

function acmeSettings(acme: string, tokens: { readonly tokenUrl: string; readonly clientId: string; readonly clientSecret: string }): Record<string, string> {
  return {
    'sonatina.rest-client.acme_financial_service_yml.url': acme,
    'sonatina.oidc-client.acme_financial_oauth.token-path': tokens.tokenUrl,
    'sonatina.oidc-client.acme_financial_oauth.client-id': tokens.clientId,
    'sonatina.oidc-client.acme_financial_oauth.credentials.secret': tokens.clientSecret,
  }
}

/** An Acme that records what it receives. */
async function startRecordingAcme(oauth: OAuthServer): Promise<{ url: string; received: { headers: IncomingHttpHeaders; url: string }[]; close: () => Promise<void> }> {
  const received: { headers: IncomingHttpHeaders; url: string }[] = []
  const server = createServer((request, response) => {
    received.push({ headers: request.headers, url: request.url ?? '' })
    const query = new URL(request.url ?? '', 'http://acme').searchParams
    void oauth.describe((request.headers.authorization ?? '').replace('Bearer ', '')).then((token) => {
      response.writeHead(token === undefined ? 401 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ rate: exchangeRate(query.get('currencyFrom') ?? '', query.get('currencyTo') ?? '') }))
    })
  })
  return { ...await listening(server), received }
}

async function listening(server: Server): Promise<{ url: string; close: () => Promise<void> }> {
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () => new Promise((resolve) => { server.close(() => { resolve() }); server.closeAllConnections() }),
  }
}

describe('e2e: the reference workflows', function () {
  this.timeout(60_000)

  describe('currency exchange against an authorization server and Acme', () => {
    let services: DevServices
    let service: Service
    before(async () => {
      services = await startDevServices()
      service = await Service.open({ settings: acmeSettings(services.acme.url, services.authorizationServer) })
    })
    after(async () => {
      await service.close()
      await services.close()
    })

    it('answers 201 with the inputs and the result, and says where the instance is', async () => {
      const { status, headers, body } = await service.post('/currency_exchange_workflow', INPUT)
      expect(status).to.equal(201)
      expect(body).to.deep.equal({
        id: body.id,
        workflowdata: { ...INPUT, executionStatus: 'OK', executionStatusMessage: 'Execution successful', exchangeRate: 1.0578, result: 2.1156 },
      })
      expect(headers.get('location')).to.match(new RegExp(`/currency_exchange_workflow/${body.id}$`))
    })

    it('reports inputs that it does not support as data, not as failures', async () => {
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
      const today = new Date().toISOString().slice(0, 10)
      const wrong: readonly (readonly [Partial<typeof INPUT>, string])[] = [
        [{ currencyTo: 'MXN' }, `Invalid currencyTo: MXN, only the following currencies are supported ${CURRENCIES}`],
        [{ currencyFrom: 'usd' }, `Invalid currencyFrom: usd, only the following currencies are supported ${CURRENCIES}`],
        [{ exchangeDate: '10.06.2022' }, 'Invalid exchangeDate: 10.06.2022, a value in the YYYY-MM-DD must be used'],
        [{ exchangeDate: '2022-02-30' }, 'Invalid exchangeDate: 2022-02-30, a value in the YYYY-MM-DD must be used'],
        [{ exchangeDate: tomorrow }, `Invalid exchangeDate: ${tomorrow}, a value lower or equal than today: ${today} must be used`],
      ]
      for (const [change, message] of wrong) {
        const input = { ...INPUT, ...change }
        const { status, body } = await service.post('/currency_exchange_workflow', input)
        expect(status).to.equal(201)
        expect(body.workflowdata).to.deep.equal({ ...input, executionStatus: 'ERROR', executionStatusMessage: message, exchangeRate: null })
      }
    })

    it('refuses what is no JSON or violates the schema, and serves the next request', async () => {
      for (const body of ['{', '', '[]', 'null', { currencyFrom: 'EUR' }, { ...INPUT, amount: 'two' }]) {
        expect((await service.post('/currency_exchange_workflow', body)).status, JSON.stringify(body)).to.equal(400)
      }
      expect((await service.post('/no_such_workflow', {})).status).to.equal(404)
      expect((await service.post('/currency_exchange_workflow', INPUT)).body.workflowdata).to.include({ executionStatus: 'OK', result: 2.1156 })
    })

    it('ends in its own error message when the client secret is wrong, or Acme is not there', async () => {
      const wrongSecret = acmeSettings(services.acme.url, { ...services.authorizationServer, clientSecret: 'wrong' })
      // A port that was free a moment ago.
      const gone = await listening(createServer())
      await gone.close()
      const noAcme = acmeSettings(gone.url, services.authorizationServer)
      const noTokens = acmeSettings(services.acme.url, { ...services.authorizationServer, tokenUrl: `${gone.url}/token` })
      for (const settings of [wrongSecret, noAcme, noTokens]) {
        const broken = await Service.open({ settings })
        try {
          for (const attempt of [1, 2]) {
            const { status, body } = await broken.post('/currency_exchange_workflow', INPUT)
            expect(status, String(attempt)).to.equal(201)
            expect(body.workflowdata).to.deep.equal({ ...INPUT, executionStatus: 'ERROR', executionStatusMessage: UNREACHABLE, exchangeRate: null })
          }
        } finally {
          await broken.close()
        }
      }
    })

    it('serves an unmodified SonataFlow project directory with only its host class given', async function () {
      const directory = join(defaultCorpus(), 'workflows/sonataflow-examples/files/serverless-workflow-oauth2-orchestration-quarkus')
      if (!await isFolder(directory)) {
        process.stderr.write(`${missingCorpusLine(directory, 1)}\n`)
        this.skip()
      }
      const project = await Service.open({
        root: directory,
        hostClasses: new Map<string, object>([['org.kie.kogito.examples.ExchangeWorkflowHelper', new ExchangeWorkflowHelper()]]),
        // Where the services of this test are; the project names fixed ports.
        settings: { 'quarkus.rest-client.acme_financial_service_yml.url': services.acme.url, 'quarkus.oidc-client.acme_financial_oauth.token-path': services.authorizationServer.tokenUrl },
      })
      try {
        const { status, body } = await project.post('/currency_exchange_workflow', INPUT)
        expect(status).to.equal(201)
        expect(body.workflowdata).to.include({ ...INPUT, executionStatus: 'OK', exchangeRate: 1.0578 })
        expect(JSON.stringify(body.workflowdata)).to.contain('2.1156')
      } finally {
        await project.close()
      }
    })
  })

  describe('what Acme receives', () => {
    let oauth: OAuthServer
    let acme: Awaited<ReturnType<typeof startRecordingAcme>>
    let service: Service
    before(async () => {
      oauth = await startOAuthServer()
      acme = await startRecordingAcme(oauth)
      service = await Service.open({ settings: acmeSettings(acme.url, oauth) })
    })
    after(async () => {
      await service.close()
      await acme.close()
      await oauth.close()
    })

    it('is one token for 1,000 concurrent requests, and each gets its own result', async () => {
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, amount) => service.post('/currency_exchange_workflow', { ...INPUT, amount })))
      expect(answers.filter(({ status }) => status !== 201)).to.deep.equal([])
      answers.forEach(({ body }, amount) => { expect(body.workflowdata['result']).to.equal(amount * 1.0578) })
      expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1000)
      expect(acme.received).to.have.length(1000)
      expect(oauth.requests).to.deep.equal(['client_credentials'])
    })

    it('is a bearer token, JSON, and who calls', async () => {
      acme.received.length = 0
      const { body } = await service.post('/currency_exchange_workflow', INPUT)
      const [{ headers, url }] = acme.received as [{ headers: IncomingHttpHeaders; url: string }]
      expect(headers).to.include({
        'accept': 'application/json', 'content-type': 'application/json',
        'wfprocid': 'currency_exchange_workflow', 'wfprocinstanceid': body.id, 'wfprocist': 'Active', 'wfproctype': 'SW', 'wfprocversion': '1.0',
      })
      expect(headers.authorization).to.match(/^Bearer \S+$/)
      expect(url).to.equal('/financial-service/exchange-rate?currencyFrom=EUR&currencyTo=USD&exchangeDate=2022-06-10')
    })
  })

  describe('parallel branches', () => {
    it('give a permutation of ABC, and two letters where two branches are enough', async () => {
      const letters = ['A', 'B', 'C']
      const document = {
        id: 'two_of_three', specVersion: '0.8',
        functions: letters.map((letter) => ({ name: `add${letter}`, type: 'expression', operation: `\${ .result |= . + "${letter}" }` })),
        states: [{
          name: 'AddLetters', type: 'parallel', completionType: 'atLeast', numCompleted: 2, end: true, stateDataFilter: { input: '${ {result: ""} }' },
          branches: letters.map((letter) => ({ name: letter, actions: [{ functionRef: `add${letter}` }] })),
        }],
      }
      const service = await Service.open({ definitions: [join(root, 'workflows/parallel.sw.json'), { uri: 'two.sw.json', document }] })
      try {
        const all = await service.post('/parallel', {})
        expect(all.status).to.equal(201)
        expect([...String(all.body.workflowdata['result'])].sort().join('')).to.equal('ABC')
        const two = await service.post('/two_of_three', {})
        expect(new Set(String(two.body.workflowdata['result'])).size).to.equal(2)
        expect(two.body.workflowdata['result']).to.match(/^[ABC]{2}$/)
      } finally {
        await service.close()
      }
    })

    it('have their remote calls under way at the same time', async () => {
      // The remote side answers the first call only when the second has come: one after the other would never end.
      const waiting: (() => void)[] = []
      const remote = await listening(createServer((_request, response) => {
        waiting.push(() => { response.writeHead(200, { 'content-type': 'application/json' }); response.end('{}') })
        if (waiting.length === 2) for (const answer of waiting) answer()
      }))
      const call = (name: string): JsonObject => ({ name, actions: [{ functionRef: 'slow' }] })
      const document = {
        id: 'overlap', specVersion: '0.8', functions: [{ name: 'slow', type: 'custom', operation: `rest:get:${remote.url}/slow` }],
        states: [{ name: 'Both', type: 'parallel', branches: [call('one'), call('two')], end: true }],
      }
      const service = await Service.open({ definitions: [{ uri: 'overlap.sw.json', document }] })
      try {
        expect((await service.post('/overlap', {})).status).to.equal(201)
        expect(waiting).to.have.length(2)
      } finally {
        await service.close()
        await remote.close()
      }
    })
  })
})
