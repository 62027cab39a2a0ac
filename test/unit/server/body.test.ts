import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect } from 'chai'
import { readBody } from '../../../lib/server/body.ts'
import { readBody as readFunctionBody } from '../../../lib/function-runtime/body.ts'

describe('server/body', () => {
  for (const [title, read] of [['of a workflow', readBody], ['of a function', readFunctionBody]] as const) {
    it(`refuses a body ${title} whose sender has gone before it is read`, async () => {
      const server = createServer()
      const gone = new Promise<IncomingMessage>((resolve) => {
        server.once('request', (request) => { request.once('close', () => { resolve(request) }) })
      })
      await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
      try {
        const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
        socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{')
        server.once('request', () => { socket.destroy() })
        const error = await read(await gone, 100).then(() => expect.fail('a body was read'), (reason: unknown) => reason)
        expect(error).to.have.property('code', 'REQUEST_INVALID')
      } finally {
        server.close()
      }
    })
  }
})
