import Koa from 'koa'
import type { Clock, Logger } from '../common/index.ts'
import { listen, type Listening } from './listen.ts'

/** What the exchange-rate service is made from. */
export interface AcmeOptions {
  readonly clock: Clock
  readonly log: Logger
  /** @default 0, a free one */
  readonly port?: number
  /** Where tokens are checked (RFC 7662), and as whom. */
  readonly introspection: { readonly url: string; readonly clientId: string; readonly clientSecret: string }
}

/** Units of a currency for one euro. */
const PER_EURO: Readonly<Record<string, number>> = { EUR: 1, USD: 1.0578, CAD: 1.3484, JPY: 141.69, GBP: 0.85048, BRL: 5.1718, AUD: 1.4845 }

const PATH = '/financial-service/exchange-rate'
const LONGEST_TRUST = 30_000
const MOST_TOKENS = 1000

/** Gives the rate from one currency to another; 1 when either is unknown. */
export function exchangeRate(from: string, to: string): number {
  const source = Object.hasOwn(PER_EURO, from) ? PER_EURO[from] : undefined
  const target = Object.hasOwn(PER_EURO, to) ? PER_EURO[to] : undefined
  if (source === undefined || target === undefined) return 1
  // In this order: the documented rates depend on how the two roundings fall.
  return (1 / source) * target
}

/**
 * Starts the Acme exchange-rate service of the reference workflow on loopback.
 *
 * It refuses calls without a valid token with 401 and answers its own failures with 500 `{code, message}`.
 */
export async function startAcme(options: AcmeOptions): Promise<Listening> {
  const isValid = createTokenCheck(options)
  const app = new Koa()
  app.silent = true
  app.use(async (context, next) => {
    try {
      await next()
    } catch (error) {
      options.log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'Acme failed')
      context.status = 500
      context.body = { code: 1, message: 'The exchange rate cannot be told now' }
    }
  })
  app.use(async (context) => {
    if (context.path !== PATH) {
      context.status = 404
      context.body = { code: 404, message: 'There is nothing at this address' }
    } else if (context.method !== 'GET') {
      context.status = 405
      context.set('Allow', 'GET')
      context.body = { code: 405, message: 'Use GET' }
    } else if (!(await isValid(context.get('Authorization')))) {
      context.status = 401
      context.set('WWW-Authenticate', 'Bearer realm="acme"')
      context.body = { code: 401, message: 'A valid token is needed' }
    } else {
      context.body = { rate: exchangeRate(single(context.query['currencyFrom']), single(context.query['currencyTo'])) }
    }
  })
  const callback = app.callback()
  return listen((request, response) => { void callback(request, response) }, options.port ?? 0)
}

function single(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

// A token found valid is trusted for a while, as resource servers do, or every call would cost two.
function createTokenCheck(options: AcmeOptions): (authorization: string) => Promise<boolean> {
  const { clock, introspection } = options
  const trusted = new Map<string, number>()
  const credentials = Buffer.from(`${encodeURIComponent(introspection.clientId)}:${encodeURIComponent(introspection.clientSecret)}`).toString('base64')
  return async (authorization) => {
    const token = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization)?.[1]
    if (token === undefined) return false
    if ((trusted.get(token) ?? 0) > clock.now()) return true
    const response = await fetch(introspection.url, {
      method: 'POST',
      headers: { Authorization: `Basic ${credentials}`, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token }).toString(),
    })
    const answer = (await response.json()) as { active?: boolean; exp?: number }
    if (answer.active !== true) return false
    if (trusted.size >= MOST_TOKENS) trusted.clear()
    trusted.set(token, Math.min(clock.now() + LONGEST_TRUST, (answer.exp ?? 0) * 1000))
    return true
  }
}
