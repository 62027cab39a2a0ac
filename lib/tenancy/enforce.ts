import { isJsonObject, silentLogger, type Logger } from '../common/index.ts'
import { TenancyError } from '../errors/index.ts'
import type { Call } from './call.ts'
import { identityOfSocket, isLoopback, isVerified, takeForwardedIdentity } from './certificate.ts'
import type { HttpMiddleware, HttpRequest } from './connection.ts'
import { createEvaluator, type WorkloadEvaluator } from './evaluate.ts'
import { readRequest, type ReadRequest } from './request.ts'
import type { TlsMode } from './tls.ts'

/** What is enforced, and for which workload. */
export interface EnforceOptions {
  /** Parsed documents, the same as a mesh would get. */
  readonly documents: readonly unknown[]
  /** What this process is to the documents. */
  readonly workload: {
    readonly namespace: string
    readonly labels: Readonly<Record<string, string>>
    /** Port at the pod. */
    readonly port: number
  }
  /** @default 'istio-system' */
  readonly rootNamespace?: string
  /** Trust domain of identities. @default 'cluster.local' */
  readonly trustDomain?: string
  /** Further trust domains that mean the same mesh. @default none */
  readonly trustDomainAliases?: readonly string[]
  /** `strict` denies every request on a connection without a verified certificate. @default 'strict' */
  readonly mode?: TlsMode
  /** `loopback` reads `X-Forwarded-Client-Cert` of a proxy on this machine; otherwise the header is dropped. @default 'never' */
  readonly trustForwardedClientCert?: 'never' | 'loopback'
  /** Gets the reasons of denials at DEBUG. @default none */
  readonly logger?: Logger
  /** Called at each denial with the policy that denied, or `none` when no rule allowed: for a counter. */
  readonly onDenied?: (document: string) => void
}

/** Whether the last documents given are in force. */
interface EnforcerStatus {
  /** `stale`: a newer set was invalid, and the one before stays in force. */
  readonly state: 'current' | 'stale'
  /** Policies that select the workload. */
  readonly policies: number
  /** Why the newer set was refused. */
  readonly fault?: string
}

/** Decides requests of one server. */
export interface Enforcer {
  /** Comes first in the chain, before routing and body parsing: denies, or passes on with the normalised path. */
  readonly middleware: HttpMiddleware
  /** Decides an upgrade request; answers and closes a refused one itself. */
  guardUpgrade(request: HttpRequest, socket: { end(text: string): unknown }): boolean
  /** Validates a new set completely and puts it in force at once; an invalid one changes nothing. Tells whether it was taken. */
  reload(documents: readonly unknown[]): boolean
  status(): EnforcerStatus
}

/** The answer that Envoy gives to a denied request. */
export const DENIED_BODY = 'RBAC: access denied'

/**
 * Makes the middleware that applies policies in the process (tenancy.md, section 7); {@link createEnforcer} has upgrades and reload too.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when a document is invalid or there is no policy at all
 */
export function enforce(options: EnforceOptions): HttpMiddleware {
  return createEnforcer(options).middleware
}

/**
 * Creates what applies policies in the process, for deployments without a sidecar: the same evaluator, the same documents.
 *
 * Fails closed: an evaluator that throws, a call that only an external authorizer could decide, and in `strict` mode a connection
 * without a verified certificate are denied.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when a document is invalid or there is no policy at all
 */
export function createEnforcer(options: EnforceOptions): Enforcer {
  const logger = options.logger ?? silentLogger
  let current = compile(options, options.documents, logger)
  let fault: string | undefined
  if (options.mode === 'permissive') logger.warn({}, 'tenancy is permissive: connections without a certificate are let in and have no identity')
  const judge = createJudge(options, logger)
  return {
    middleware: async (context, next) => {
      const judgement = judge(context.req, current)
      if (judgement.status === 200) {
        // Routing must see the path that the policies saw.
        context.url = judgement.request.path + judgement.request.query
        return next()
      }
      context.status = judgement.status
      context.set('Content-Type', 'text/plain')
      context.body = judgement.body
      return undefined
    },
    guardUpgrade(request, socket) {
      const judgement = judge(request, current)
      if (judgement.status === 200) {
        request.url = judgement.request.path + judgement.request.query
        return true
      }
      socket.end(rawAnswer(judgement))
      return false
    },
    reload(documents) {
      try {
        current = compile(options, documents, logger)
        fault = undefined
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error)
        logger.error({ fault }, 'the new policies are invalid; the ones before stay in force')
      }
      return fault === undefined
    },
    status: () => ({ state: fault === undefined ? 'current' : 'stale', policies: current.policies, ...(fault === undefined ? {} : { fault }) }),
  }
}

function trustDomainsOf(options: EnforceOptions): readonly string[] {
  return [options.trustDomain ?? 'cluster.local', ...options.trustDomainAliases ?? []]
}

function compile(options: EnforceOptions, documents: readonly unknown[], logger: Logger): WorkloadEvaluator {
  const policies = documents.filter((document) => isJsonObject(document) && document['kind'] === 'AuthorizationPolicy')
  if (policies.length === 0) {
    throw new TenancyError({ code: 'TENANCY_INVALID', message: 'there is no AuthorizationPolicy among the documents to enforce; without one everything would be allowed' })
  }
  const evaluator = createEvaluator(documents, {
    rootNamespace: options.rootNamespace ?? 'istio-system',
    trustDomains: trustDomainsOf(options),
  }).workload(options.workload)
  if (evaluator.policies === 0) {
    logger.warn({ workload: options.workload }, 'no policy selects this workload, so every request is allowed')
  }
  return evaluator
}

type Judgement =
  | { readonly status: 200; readonly request: ReadRequest }
  | { readonly status: 400 | 403; readonly body: string }

const DENIED: Judgement = { status: 403, body: DENIED_BODY }

function createJudge(options: EnforceOptions, logger: Logger): (request: HttpRequest, evaluator: WorkloadEvaluator) => Judgement {
  const identify = createIdentify(options)
  const isStrict = options.mode !== 'permissive'
  const deny = (document: string, facts: object): Judgement => {
    logger.debug({ document, ...facts }, 'request denied')
    options.onDenied?.(document)
    return DENIED
  }
  return (request, evaluator) => {
    try {
      const peer = identify(request)
      const read = readRequest(request)
      if ('fault' in read) return { status: 400, body: `Bad Request: ${read.fault}` }
      if (isStrict && !peer.isVerified) return deny('none', { fault: 'the connection has no verified certificate' })
      const verdict = evaluator.decide(toCall(options, request, { read, peer: peer.identity }))
      if (verdict.outcome === 'allow') return { status: 200, request: read }
      return deny(verdict.document ?? 'none', { rule: verdict.rule, outcome: verdict.outcome, peer: peer.identity, method: read.method, path: read.path })
    } catch (error) {
      logger.error({ error: error instanceof Error ? error.message : String(error) }, 'a request could not be decided and is denied')
      options.onDenied?.('none')
      return DENIED
    }
  }
}

interface Peer {
  readonly identity?: string
  /** Whether a certificate was verified, here or by a trusted proxy. */
  readonly isVerified: boolean
}

/** Finds out who is at the other end, once a connection; a forwarded identity is read at each request. */
function createIdentify(options: EnforceOptions): (request: HttpRequest) => Peer {
  const domains = trustDomainsOf(options)
  const known = new WeakMap<object, Peer>()
  return (request) => {
    const { socket } = request
    const forwarded = takeForwardedIdentity(request, domains)
    if (forwarded !== undefined && options.trustForwardedClientCert === 'loopback' && isLoopback(socket)) {
      return { identity: forwarded, isVerified: true }
    }
    const found = known.get(socket)
    if (found !== undefined) return found
    const identity = identityOfSocket(socket, domains)
    const peer: Peer = { isVerified: isVerified(socket), ...(identity === undefined ? {} : { identity }) }
    known.set(socket, peer)
    return peer
  }
}

function toCall(options: EnforceOptions, { socket }: HttpRequest, { read, peer }: { read: ReadRequest; peer: string | undefined }): Call {
  const { namespace, labels, port } = options.workload
  return {
    protocol: 'http',
    method: read.method,
    path: read.path,
    headers: read.headers,
    destination: { namespace, labels, port, ...(socket.localAddress === undefined ? {} : { ip: socket.localAddress }) },
    ...(read.authority === undefined ? {} : { authority: read.authority }),
    ...(peer === undefined ? {} : { peer }),
    ...(socket.remoteAddress === undefined ? {} : { sourceIp: socket.remoteAddress }),
    ...(typeof socket.servername === 'string' ? { sni: socket.servername } : {}),
  }
}

function rawAnswer(judgement: Exclude<Judgement, { status: 200 }>): string {
  const reason = judgement.status === 403 ? 'Forbidden' : 'Bad Request'
  const length = Buffer.byteLength(judgement.body)
  return `HTTP/1.1 ${String(judgement.status)} ${reason}\r\nContent-Type: text/plain\r\nContent-Length: ${String(length)}\r\nConnection: close\r\n\r\n${judgement.body}`
}
