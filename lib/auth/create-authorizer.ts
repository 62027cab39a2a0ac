import type { Logger } from '../common/index.ts'
import { settingKey, type Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import { compileAuthDefinition } from './auth-definition.ts'
import type { Authorization, AuthorizationContext, AuthorizedRequest, Authorizer, MaybePromise, OperationSecurity } from './authorization.ts'
import { compileScheme, failingAuthorization, type Applier, type OpenTokenSource } from './schemes.ts'
import { createTokenSources, type TokenSourcesOptions } from './token-sources.ts'

/** What an authorizer is made from. */
export interface AuthorizerOptions extends TokenSourcesOptions {
  readonly log: Logger
}

/** Creates the authorizer of a process: one token source for each client, shared by all operations (configuration.md §4, §5). */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const { settings } = options
  const log = options.log.child({ module: 'auth' })
  const warned = new Set<string>()
  const warnOnce = (message: string): void => {
    if (warned.has(message)) return
    warned.add(message)
    log.warn({}, message)
  }
  const { open, close } = createTokenSources(options, { log, warnOnce })
  return {
    compile(security) {
      if (!settings.boolean(`${settingKey('sonatina.openapi-generator.codegen.spec', security.fileKey)}.enable-security-generation`, true)) return undefined
      return compileSecurity(security, { settings, open, warnOnce })
    },
    compileDefinition(definition, evaluate) {
      return compileAuthDefinition(definition, evaluate, { httpClient: options.clients.general, clock: options.clock, ids: options.ids, log })
    },
    close,
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
    const compiled = compileScheme(name, security, context)
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
