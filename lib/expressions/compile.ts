import { createRandomIdSource, createSystemClock, silentLogger, type Clock, type IdSource, type Json, type Logger } from '../common/index.ts'
import type { Bindings, ExpressionLanguageName, MaybePromise } from './evaluator.ts'
import { createLanguage } from './languages.ts'
import { DEFAULT_LIMITS, type ExpressionLimits } from './limits.ts'
import { evaluationError, syntaxError, type Source } from './locate.ts'
import { SyntaxFault } from './syntax-fault.ts'
import { unwrap } from './wrapper.ts'

/** How a single expression is compiled. */
export interface CompileOptions {
  /** Takes wrappers such as `${ … }` off first. @default false */
  readonly wrapped?: boolean
  /** @default {@link DEFAULT_LIMITS} */
  readonly limits?: Partial<ExpressionLimits>
  /** @default 'linear' */
  readonly regex?: 'linear' | 'backtracking'
  /** Names of the variables that exist; absent when any may. */
  readonly variables?: readonly string[]
  /** @default the clock of the machine */
  readonly clock?: Clock
  /** @default random */
  readonly ids?: IdSource
  /** @default none */
  readonly logger?: Logger
}

/** A compiled expression, apart from any definition. */
export interface CompiledExpression {
  readonly language: ExpressionLanguageName
  /** False when evaluation gives a promise. */
  readonly sync: boolean
  /**
   * Gives all outputs.
   *
   * @throws {@link ExpressionError} `EXPRESSION_FAILED` or `EXPRESSION_LIMIT`; an asynchronous language rejects with it.
   */
  evaluate(input: Json, bindings: Bindings): MaybePromise<readonly Json[]>
  /** Like {@link CompiledExpression.evaluate}, but hands outputs over one by one: those before a failure are seen. */
  each(input: Json, bindings: Bindings, emit: (output: Json) => void): MaybePromise<void>
}

/**
 * Compiles one expression, for the command line and for conformance tests.
 *
 * @throws {@link ExpressionError} `EXPRESSION_SYNTAX` with position and hint.
 */
export function compile(language: ExpressionLanguageName, text: string, options: CompileOptions = {}): CompiledExpression {
  const implementation = createLanguage({
    language,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    regex: options.regex ?? 'linear',
    clock: options.clock ?? createSystemClock(),
    ids: options.ids ?? createRandomIdSource(),
    logger: options.logger ?? silentLogger,
    dynamicSecrets: false,
    ...(options.variables && { variables: options.variables }),
    onVariable: () => undefined,
    onSecret: () => undefined,
  })
  const whole: Source = { text, offset: 0, site: { pointer: '' }, language, purpose: 'expression' }
  let source = whole
  try {
    const opened = options.wrapped === true ? unwrap(text, language, false) : undefined
    const inner = opened === undefined || opened.kind === 'parts' ? { expression: text, offset: 0 } : opened
    source = { ...whole, offset: inner.offset }
    const program = implementation.compile(inner.expression === '' ? implementation.identity : inner.expression)
    const all = (input: Json, bindings: Bindings): MaybePromise<readonly Json[]> => program.evaluateAll(input, bindings)
    return {
      language,
      sync: implementation.sync,
      evaluate: (input, bindings) => guard(() => all(input, bindings), source),
      each: (input, bindings, emit) => guard(() => {
        if (program.evaluateEach) {
          program.evaluateEach(input, bindings, emit)
          return undefined
        }
        const outputs = all(input, bindings)
        if (outputs instanceof Promise) return outputs.then((list) => { list.forEach(emit) })
        outputs.forEach(emit)
        return undefined
      }, source),
    }
  } catch (error) {
    throw error instanceof SyntaxFault ? syntaxError(error, source) : error
  }
}

function guard<T>(run: () => MaybePromise<T>, source: Source): MaybePromise<T> {
  const fail = (error: unknown): never => { throw evaluationError(error, source) }
  try {
    const result = run()
    return result instanceof Promise ? result.catch(fail) : result
  } catch (error) {
    return fail(error)
  }
}
