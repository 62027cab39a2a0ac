import { Agent, request } from 'undici'
import type { Answer } from './match.ts'
import { parseBody } from './servers/http-server.ts'

/** A request of a step. */
export interface Call {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends the requests of a case; its connections end with it. */
export class HttpCaller {
  // Pending answers must not be cut by a clock that the case does not control.
  private readonly agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 1000 })

  private underWay = 0

  /** No request waits for its answer. */
  get isIdle(): boolean {
    return this.underWay === 0
  }

  /** Sends a request and reads the answer completely. */
  async send(call: Call): Promise<Answer> {
    this.underWay++
    try {
      return await this.exchange(call)
    } finally {
      this.underWay--
    }
  }

  private async exchange({ method, url, headers, body }: Call): Promise<Answer> {
    const response = await request(url, {
      method: method.toUpperCase() as 'GET', headers, dispatcher: this.agent, ...(body === undefined ? {} : { body }),
    })
    const text = await response.body.text()
    const named = Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value ?? ''])
    return { status: response.statusCode, headers: Object.fromEntries(named) as Record<string, string>, text, body: parseBody(text) }
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.agent.destroy()
  }
}
