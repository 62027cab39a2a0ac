import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { urlToHttpOptions } from 'node:url'
import type { Json } from '../../common/index.ts'
import { HostError } from '../../errors/index.ts'

/** Where the engine can be reached. */
export interface EngineOptions {
  /** Address of the ingress, through which instances are called. */
  readonly ingressUrl: string
  /** Address of the admin API, where workers register and lists are made. */
  readonly adminUrl: string
  /** Milliseconds for which an answer that nothing else is waited for may take. @default 10000 */
  readonly patience?: number
}

/** An object or service, and what it is to do. */
export interface Target {
  readonly service: string
  readonly key?: string
  readonly handler: string
}

interface Answer {
  readonly status: number
  readonly body: string
}

/** Milliseconds for which an answer of the admin API, or a sign of life, is waited for. */
const PATIENCE = 10_000

/**
 * The engine as a client sees it.
 *
 * Every method rejects with {@link HostError} `STORE_UNAVAILABLE` when the engine cannot be reached or knows no worker of ours.
 */
export class Engine {
  readonly #options: EngineOptions
  readonly #plain = new HttpAgent({ keepAlive: true })
  readonly #secure = new HttpsAgent({ keepAlive: true })

  /** Requests that have no answer yet, but those that wait for instances. */
  underWay = 0

  constructor(options: EngineOptions) {
    this.#options = options
  }

  /** Calls a handler and gives what it answers. */
  call<Reply>(target: Target, input: unknown): Promise<Reply> {
    return this.#call(target, input)
  }

  async #call<Reply>(target: Target, input: unknown, patience?: number): Promise<Reply> {
    const { status, body } = await this.#counted(this.#request(this.#options.ingressUrl, pathOf(target), {
      method: 'POST', body: JSON.stringify(input), ...(patience === undefined ? {} : { patience }),
    }))
    if (status !== 200) throw refused(target, status, body)
    return JSON.parse(body) as Reply
  }

  /** Calls a handler that only looks, and answers at once where the engine and a worker are well. */
  look<Reply>(target: Target, input: unknown): Promise<Reply> {
    return this.#call(target, input, this.#options.patience ?? PATIENCE)
  }

  /** Calls a handler that waits for an instance. */
  async wait<Reply>(target: Target, input: unknown): Promise<Reply> {
    const answer = this.call<Reply>(target, input)
    this.underWay -= 1
    try {
      return await answer
    } finally {
      this.underWay += 1
    }
  }

  async #counted(request: Promise<Answer>): Promise<Answer> {
    this.underWay += 1
    try {
      return await request
    } finally {
      this.underWay -= 1
    }
  }

  /** Hands a message over; resolves when the engine has it. */
  async send(target: Target, input: unknown): Promise<void> {
    const { status, body } = await this.#counted(this.#request(this.#options.ingressUrl, `${pathOf(target)}/send`, { method: 'POST', body: JSON.stringify(input), patience: PATIENCE }))
    if (status !== 200 && status !== 202) throw refused(target, status, body)
  }

  /** Whether the ingress answers. */
  async isAlive(): Promise<boolean> {
    try {
      return (await this.#request(this.#options.ingressUrl, '/restate/health', { method: 'GET', patience: 2000 })).status === 200
    } catch (error) {
      if (HostError.is(error)) return false
      throw error
    }
  }

  /** Makes the services of a worker known under its address; they replace those that had it before. */
  async register(uri: string): Promise<void> {
    const { status, body } = await this.#request(this.#options.adminUrl, '/deployments', { method: 'POST', body: JSON.stringify({ uri, force: true }), patience: PATIENCE })
    if (status >= 300) throw unavailable(`its admin API refused the worker ${uri}: ${status.toString()} ${messageOf(body)}`)
  }

  /** Asks the engine about itself, in SQL. */
  async query(sql: string): Promise<readonly Readonly<Record<string, Json>>[]> {
    const { status, body } = await this.#request(this.#options.adminUrl, '/query', { method: 'POST', body: JSON.stringify({ query: sql }), patience: PATIENCE })
    if (status !== 200) throw unavailable(`its admin API refused a query: ${status.toString()} ${messageOf(body)}`)
    return (JSON.parse(body) as { rows: readonly Record<string, Json>[] }).rows
  }

  close(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }

  #request(base: string, path: string, { method, body, patience }: { method: string; body?: string; patience?: number }): Promise<Answer> {
    const url = new URL(base)
    const isSecure = url.protocol === 'https:'
    const options = {
      ...urlToHttpOptions(url),
      // As it is: an address would lose segments of dots, and with them the key of an object.
      path: url.pathname.replace(/\/+$/, '') + path,
      method,
      agent: isSecure ? this.#secure : this.#plain,
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }) },
      ...(patience === undefined ? {} : { timeout: patience }),
    }
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => { reject(unavailable(`${url.origin} ${error.message}`, error)) }
      const sent = (isSecure ? httpsRequest : httpRequest)(options, (response) => { read(response).then(resolve, fail) })
      sent.on('timeout', () => { sent.destroy(new Error('did not answer in time')) })
      sent.on('error', fail)
      sent.end(body)
    })
  }
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }
}

function pathOf({ service, key, handler }: Target): string {
  return `/${service}${key === undefined ? '' : `/${segmentOf(key)}`}/${handler}`
}

function segmentOf(key: string): string {
  return key === '.' || key === '..' ? key.replaceAll('.', '%2E') : encodeURIComponent(key)
}

function refused({ service, handler }: Target, status: number, body: string): HostError {
  if (status === 404) return unavailable(`it knows no worker with "${service}" (${handler}); start a worker that registers itself (sonatina.restate.admin-url)`)
  return unavailable(`"${service}/${handler}" came to ${status.toString()} ${messageOf(body)}`)
}

function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: string }
    return message ?? body.slice(0, 500)
  } catch {
    // An answer of something in between: its text is all there is.
    return body.slice(0, 500)
  }
}

function unavailable(reason: string, cause?: unknown): HostError {
  return new HostError({ code: 'STORE_UNAVAILABLE', message: `The engine cannot be used: ${reason}`, ...(cause === undefined ? {} : { cause }) })
}
