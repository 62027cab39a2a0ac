import { timingSafeEqual, createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { RequestError } from '../errors/index.ts'
import type { InspectorSettings } from './settings.ts'

/** Decides who may use the inspector. */
export interface Guard {
  /**
   * Lets a request pass.
   *
   * @throws {@link RequestError} `FORBIDDEN` for a machine or host name that is not known; `UNAUTHENTICATED` without the token
   */
  admit(request: IncomingMessage): void
  /** Lets a request pass that comes from a known machine under a known name, token or not. @throws {@link RequestError} `FORBIDDEN` */
  name(request: IncomingMessage): void
  /** Lets only requests of our own page, or of listed ones, pass. @throws {@link RequestError} `FORBIDDEN` */
  sameOrigin(request: IncomingMessage): void
  /** Lets a request that changes something pass. @throws {@link RequestError} `FORBIDDEN`, `MEDIA_TYPE_UNSUPPORTED` */
  change(request: IncomingMessage): void
}

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Creates a {@link Guard} from the settings: this machine only, unless hosts are named and a token is set. */
export function createGuard({ hosts, token, origins, control }: Pick<InspectorSettings, 'hosts' | 'token' | 'origins' | 'control'>): Guard {
  const isOurs = (request: IncomingMessage): boolean => {
    const { origin, host } = request.headers
    if (origin === undefined) return true
    if (origins.includes(origin)) return true
    return URL.canParse(origin) && new URL(origin).host === host
  }
  const sameOrigin = (request: IncomingMessage): void => {
    if (!isOurs(request)) throw forbidden('Pages of other origins may not use the inspector; list them in sonatina.inspect.origins')
  }
  const name = (request: IncomingMessage): void => {
    // Without this a page of a name that is made to point here could read everything (DNS rebinding).
    const host = nameOf(request.headers.host)
    if (!LOOPBACK_NAMES.has(host) && !hosts.includes(host)) {
      throw forbidden('The inspector is not open under this host name; add it to sonatina.inspect.host, with a token')
    }
    if (hosts.length === 0 && !isLoopback(request.socket.remoteAddress)) {
      throw forbidden('The inspector is open to this machine only; name hosts in sonatina.inspect.host and set sonatina.inspect.token')
    }
  }
  return {
    name,
    admit(request) {
      name(request)
      if (token !== undefined && !holdsToken(request, token)) {
        throw new RequestError({ code: 'UNAUTHENTICATED', message: 'The inspector needs its token (sonatina.inspect.token) as bearer', details: { challenge: 'Bearer realm="inspector"' } })
      }
    },
    sameOrigin,
    change(request) {
      if (!control) throw forbidden('Instances cannot be changed here; set sonatina.inspect.control=true to allow it')
      sameOrigin(request)
      const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
      if (type !== 'application/json') {
        throw new RequestError({ code: 'MEDIA_TYPE_UNSUPPORTED', message: 'Send Content-Type: application/json', details: { contentType: type ?? '' } })
      }
    },
  }
}

function forbidden(message: string): RequestError {
  return new RequestError({ code: 'FORBIDDEN', message })
}

function nameOf(host: string | undefined): string {
  return (host ?? '').toLowerCase().replace(/:\d+$/u, '')
}

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(?:::ffff:)?127\./u.test(address))
}

// Browsers cannot set headers on EventSource and WebSocket: those carry the token in the query.
function holdsToken({ headers, url }: IncomingMessage, token: string): boolean {
  const bearer = /^bearer (.+)$/iu.exec(headers.authorization ?? '')?.[1]
  const given = bearer ?? new URLSearchParams((url ?? '').split('?')[1] ?? '').get('token')
  return given !== null && timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
