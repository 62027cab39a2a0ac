import type { Clock, IdSource, Logger } from '../common/index.ts'
import { settingKey, type Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import type { HttpClients } from '../http-client/index.ts'
import { compileAuthDefinition } from './auth-definition.ts'
import type { Authorization, AuthorizationContext, AuthorizedRequest, Authorizer, MaybePromise, OperationSecurity, SecurityScheme } from './authorization.ts'
import type { CredentialsProvider } from './credentials-provider.ts'
import { readOAuthClient } from './read-oauth-client.ts'
import { compileScheme, failingAuthorization, type Applier, type OpenedSource, type OpenTokenSource } from './schemes.ts'
import { createTokenSource, type TokenSource } from './token-source.ts'

/** What an authorizer is made from. */
export interface AuthorizerOptions {
  readonly settings: Settings
  readonly clients: HttpClients
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Logger
  /** Credentials providers of the host, by name. */
  readonly credentialsProviders?: Readonly<Record<string, CredentialsProvider>>
}

/** Creates the authorizer of a process: one token source for each client, shared by all operations (configuration.md §4, §5). */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { settings } = options
  const log = options.log.child({ module: 'auth' })
  const sources = new Map<string, OpenedSource>()
  const warned = new Set<string>()
  const warnOnce = (message: string): void => {
    if (warned.has(message)) return
    warned.add(message)
    log.warn({}, message)
  }
  const open: OpenTokenSource = (scheme, schemeKey, security) => {
    // The token address may come from the document, so two documents with one scheme name may mean two servers.
    const documentTokenUrl = findTokenUrl(scheme, security.base, settings.text(`${settingKey('sonatina.oidc-client', schemeKey)}.grant.type`, 'client'))
    const id = `${schemeKey} ${documentTokenUrl ?? scheme.openIdConnectUrl ?? ''}`
    const known = sources.get(id)
    if (known) return known
    const httpClient = options.clients.forScheme(schemeKey)
    const read = readOAuthClient(schemeKey, {
      settings,
      providers: options.credentialsProviders ?? {},
      httpClient,
      clock: options.clock,
      documentTokenUrl,
      documentDiscoveryUrl: scheme.openIdConnectUrl,
    })
    if ('missing' in read) return read
    if (read.client.method === 'query') warnOnce(`The client "${schemeKey}" sends its secret in the query of the token address, where logs of servers and proxies keep it; prefer credentials.client-secret.method=basic or post`)
    const exchangeKey = `${settingKey('sonatina.security.auth', schemeKey)}.token-exchange`
    const proactive = read.client.grant === 'exchange' && settings.boolean(`${exchangeKey}.enabled`, false)
      ? {
        before: settings.duration(`${exchangeKey}.proactive-refresh-seconds`, 300_000),
        every: settings.duration('sonatina.security.auth.token-exchange.monitor-rate-seconds', 60_000),
      }
      : undefined
    const source = createTokenSource({ client: read.client, httpClient, clock: options.clock, ids: options.ids, log, ...(proactive ? { proactive } : {}) })
    const { grant } = read.client
    const opened: OpenedSource = { source, subject: grant === 'exchange' ? 'required' : grant === 'jwt' ? 'optional' : 'none' }
    sources.set(id, opened)
    if (settings.boolean(`${settingKey('sonatina.oidc-client', schemeKey)}.early-tokens-acquisition`, false) && grant !== 'exchange') fetchEarly(source, schemeKey, log)
    return opened
  }
  return {
    compile(security) {
      if (!settings.boolean(`${settingKey('sonatina.openapi-generator.codegen.spec', security.fileKey)}.enable-security-generation`, true)) return undefined
      return compileSecurity(security, { settings, open, warnOnce })
    },
    compileDefinition(definition, evaluate) {
      return compileAuthDefinition(definition, evaluate, { httpClient: options.clients.general, clock: options.clock, ids: options.ids, log })
    },
    close() {
      for (const { source } of sources.values()) source.close()
      sources.clear()
    },
  }
}

interface CompileContext {
  readonly settings: Settings
  readonly open: OpenTokenSource
  readonly warnOnce: (message: string) => void
}

// Every configured scheme of all requirements is applied, as SonataFlow does: a superset satisfies each alternative.
function compileSecurity(security: OperationSecurity, context: CompileContext): Authorization | undefined {
  const requirements = security.security ?? []
  if (requirements.length === 0) return undefined
  const appliers: Applier[] = []
  const configured = new Set<string>()
  const problems: string[] = []
  for (const name of new Set(requirements.flatMap((requirement) => Object.keys(requirement)))) {
    const compiled = compileScheme(name, security, context.settings, context.open)
    if ('problem' in compiled) {
      problems.push(compiled.problem)
      continue
    }
    configured.add(name)
    const { applier } = compiled
    if (!applier) continue
    if (appliers.some(({ target }) => target === applier.target)) {
      context.warnOnce(`Security scheme "${name}" (${security.document}) would set the same ${applier.target.replace(' ', ' "')}" as an earlier scheme; the earlier one counts`)
    } else {
      appliers.push(applier)
    }
  }
  const complete = requirements.some((requirement) => Object.keys(requirement).every((name) => configured.has(name)))
  if (!complete) return reportProblems(problems, context)
  return appliers.length === 0 ? undefined : combine(appliers)
}

function reportProblems(problems: readonly string[], context: CompileContext): Authorization {
  const message = problems.join('\n')
  if (context.settings.boolean('sonatina.auth.fail-fast', false)) throw new ConfigurationError({ code: 'CONFIGURATION_MISSING', message })
  for (const problem of problems) context.warnOnce(problem)
  return failingAuthorization(message)
}

interface CallState {
  context: AuthorizationContext
  /** Whether a token was fetched for this very call. */
  fresh: boolean
  renewed: boolean
}

function combine(appliers: readonly Applier[]): Authorization {
  const states = new WeakMap<AuthorizedRequest, CallState>()
  const canForget = appliers.some(({ forget }) => forget !== undefined)
  const applyFrom = (index: number, request: AuthorizedRequest, context: AuthorizationContext): MaybePromise<void> => {
    for (let position = index; position < appliers.length; position++) {
      const waiting = appliers[position]?.apply(request, context)
      if (waiting) {
        const state = states.get(request)
        if (state) state.fresh = true
        return waiting.then(() => applyFrom(position + 1, request, context))
      }
    }
    return undefined
  }
  return {
    apply(request, context) {
      if (canForget && !states.has(request)) states.set(request, { context, fresh: false, renewed: false })
      return applyFrom(0, request, context)
    },
    renew(request) {
      const state = states.get(request)
      if (!state || state.fresh || state.renewed) return false
      state.renewed = true
      for (const applier of appliers) applier.forget?.(request, state.context)
      return true
    },
  }
}

function findTokenUrl(scheme: SecurityScheme, base: string | undefined, grant: string): string | undefined {
  const flows = scheme.flows ?? {}
  const fitting = grant === 'password' ? flows['password'] : flows['clientCredentials']
  const url = fitting?.tokenUrl ?? Object.values(flows).find((flow) => flow?.tokenUrl !== undefined && flow.tokenUrl !== '')?.tokenUrl ?? scheme.tokenUrl
  if (url === undefined || url === '' || !URL.canParse(url, base)) return undefined
  return new URL(url, base).href
}

function fetchEarly(source: TokenSource, schemeKey: string, log: Logger): void {
  Promise.resolve(source.token()).catch((error: unknown) => {
    log.warn({ client: schemeKey, reason: error instanceof Error ? error.message : String(error) }, 'No token could be fetched at start')
  })
}
