import { expect } from 'chai'
import { ERROR_CODES, DefinitionError, HostError, InstanceError, RequestError } from '../../../lib/errors/index.ts'
import type { InstanceFailure, InstanceRecord } from '../../../lib/hosts/index.ts'
import { STATUS, failureMessage, failureProblem, internalProblem, toProblem } from '../../../lib/server/problem.ts'

const record: InstanceRecord = { id: 'i', workflowId: 'w', version: '1.0', status: 'error', data: {}, startedAt: 0 }
const failure = (more: Partial<InstanceFailure>): InstanceFailure => ({ failedNodeId: 'A', name: 'E', code: 'FUNCTION_FAILED', message: 'm', ...more })

describe('server/problem', () => {
  it('has a status for every code of lib/errors and for no other', () => {
    expect(Object.keys(STATUS).sort()).to.deep.equal(Object.values(ERROR_CODES).flat().sort())
    for (const status of Object.values(STATUS)) expect(status).to.be.within(400, 599)
  })

  it('says which methods there are, when to come back, how to identify, what can be read', () => {
    const headers = (error: Parameters<typeof toProblem>[0]): object => toProblem(error).headers
    expect(headers(new RequestError({ code: 'METHOD_NOT_ALLOWED', message: 'm', details: { allow: ['GET', 'HEAD'] } }))).to.deep.equal({ Allow: 'GET, HEAD' })
    expect(headers(new RequestError({ code: 'TOO_MANY_REQUESTS', message: 'm', details: { retryAfter: 0.2 } }))).to.deep.equal({ 'Retry-After': '1' })
    expect(headers(new HostError({ code: 'HOST_CLOSED', message: 'm' }))).to.deep.equal({ 'Retry-After': '5' })
    expect(headers(new RequestError({ code: 'UNAUTHENTICATED', message: 'm', details: { challenge: 'Basic realm="x"' } }))).to.deep.equal({ 'WWW-Authenticate': 'Basic realm="x"' })
    expect(headers(new RequestError({ code: 'MEDIA_TYPE_UNSUPPORTED', message: 'm' }))).to.deep.equal({ 'Accept-Post': 'application/json' })
  })

  it('shows no detail but those of the contract', () => {
    const error = new InstanceError({ code: 'INSTANCE_CONFLICT', message: 'm', details: { instanceId: 'i', secret: 's', stack: 't' } })
    expect(toProblem(error).body).to.deep.equal({ message: 'm', code: 'INSTANCE_CONFLICT', processInstanceId: 'i' })
  })

  it('says that the store is away, not where it is', () => {
    const message = (text: string): unknown => toProblem(new HostError({ code: 'STORE_UNAVAILABLE', message: text })).body['message']
    expect(message('The engine cannot be used: http://10.0.0.7:8080 connect ECONNREFUSED 10.0.0.7:8080')).to.equal('The engine cannot be used: <address> connect ECONNREFUSED')
    expect(message('The store /srv/shop/.sonatina/sonatina.db cannot be written: disk I/O error')).to.equal('The store <file> cannot be written: disk I/O error')
  })

  it('cuts messages at 8 KiB', () => {
    expect(toProblem(new DefinitionError({ code: 'DEFINITION_INVALID', message: 'x'.repeat(100_000) })).body['message']).to.have.length(8192)
  })

  const remote: [status: number, answered: number][] = [[400, 400], [403, 403], [404, 404], [409, 409], [412, 412], [401, 500], [429, 500], [418, 500], [500, 500], [502, 500], [503, 500]]
  for (const [status, answered] of remote) {
    it(`answers an uncaught remote ${String(status)} with ${String(answered)} and its status as errorCode`, () => {
      const problem = failureProblem(record, failure({ code: 'REST_STATUS', status, message: 'remote says no' }))
      expect(problem.status).to.equal(answered)
      expect(problem.body).to.deep.equal({ message: 'remote says no', code: 'REST_STATUS', id: 'i', failedNodeId: 'A', errorCode: String(status) })
    })
  }

  it('answers the failures of an instance with 400 where its data is at fault, else with 500', () => {
    const statusOf = (code: string): number => failureProblem(record, failure({ code })).status
    for (const code of ['EXPRESSION_FAILED', 'FUNCTION_ARGUMENT_INVALID', 'CONFIGURATION_MISSING', 'DATA_OUTPUT_INVALID', 'INSTANCE_FAILED']) expect(statusOf(code), code).to.equal(400)
    for (const code of ['FUNCTION_FAILED', 'FUNCTION_TIMEOUT', 'AUTH_FAILED', 'INSTANCE_LOOP', 'STATE_TIMEOUT', 'INSTANCE_NOT_FOUND', 'STORE_UNAVAILABLE', 'ECONNRESET']) {
      expect(statusOf(code), code).to.equal(500)
    }
  })

  it('names only codes of the product', () => {
    expect(failureProblem(record, failure({ code: 'E_HOST_THING' })).body['code']).to.equal('FUNCTION_FAILED')
  })

  const leaks: [message: string, expected: string][] = [
    ['connect ECONNREFUSED 10.1.2.3:8080', 'connect ECONNREFUSED'],
    ['getaddrinfo ENOTFOUND acme.internal', 'getaddrinfo ENOTFOUND'],
    ['POST https://u:p@acme.example/a?token=1 failed', 'POST <address> failed'],
    ['no answer from acme.example:8443 in time', 'no answer from <address> in time'],
    ['no answer from localhost:8443', 'no answer from <address>'],
    ['ENOENT: no such file or directory, open \'/srv/app/rates.json\'', 'ENOENT: no such file or directory, open \'<file>\''],
    ['at f (/srv/app/lib/x.ts:10:3)', 'at f (<file>)'],
    ['C:\\app\\x.js broke', '<file> broke'],
    ['sent Authorization: Bearer abcdefgh.ijkl', 'sent Authorization: Bearer ***'],
    ['argument /amount is no number', 'argument /amount is no number'],
    ['HTTP:404 is not 1.2.3', 'HTTP:404 is not 1.2.3'],
    ['Ratio 12:30 of a/b', 'Ratio 12:30 of a/b'],
  ]
  for (const [message, expected] of leaks) {
    it(`words ${JSON.stringify(message)} without places and tokens`, () => { expect(failureMessage(failure({ message }))).to.equal(expected) })
  }

  it('keeps the text of a remote answer', () => {
    expect(failureMessage(failure({ message: 'see https://docs.example/x', status: 404 }))).to.equal('see https://docs.example/x')
  })

  it('answers a defect with an id and nothing else', () => {
    expect(internalProblem('e1')).to.deep.include({ status: 500, headers: {} })
    expect(Object.keys(internalProblem('e1').body)).to.deep.equal(['message', 'code'])
    expect(internalProblem('e1').body['message']).to.include('e1')
  })
})
