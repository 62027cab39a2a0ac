import { createServer } from 'node:http'
import { ready } from './ready.ts'

// The remote side of W3: a token that lasts, and a rate.

ready(createServer((request, response) => {
  request.resume()
  response.setHeader('content-type', 'application/json')
  response.end(request.url?.startsWith('/token') === true
    ? '{"access_token":"token","token_type":"Bearer","expires_in":36000}'
    : '{"rate":1.0578}')
}))
