import { DefinitionError, ExpressionError } from '../errors/index.ts'
import { silentLogger, type Clock, type IdSource, type Json, type Logger } from '../common/index.ts'
import { decideText } from './arguments.ts'
import { NO_BINDINGS } from './bindings.ts'
import type { Compiled, ExpressionLanguageName, Expressions, FaultListener, Profile, Reads, Site, Target } from './evaluator.ts'
import { interpolate } from './interpolation.ts'
import type { Language, Program } from './language.ts'
import { createLanguage } from './languages.ts'
import { DEFAULT_LIMITS, type ExpressionLimits } from './limits.ts'
import { evaluationError, syntaxError, type Source } from './locate.ts'
import { conditionOutput, JSON_OUTPUT, LIST_OUTPUT, TEXT_OUTPUT, toCompiled, type Target as OutputTarget } from './outputs.ts'
import { createRegexEngine, type RegexEngine } from './regex/engine.ts'
import { RegexFault } from './regex/pattern.ts'
import { resolveReference } from './references.ts'
import { SyntaxFault } from './syntax-fault.ts'
import { namedTarget, pathTarget } from './target.ts'
import { compileTemplate, type TemplateText } from './template.ts'
import { unwrap } from './wrapper.ts'

/** What a text fell back to itself for, in profile `sonataflow`. */
export interface FallbackFacts {
  readonly text: string
  readonly pointer: string
  readonly reason: string
}

/** What the expressions of a definition are compiled with. */
export interface ExpressionsOptions {
  readonly language: ExpressionLanguageName
  readonly profile: Profile
  /** Operations of expression functions by name, for `fn:` references. */
  readonly functions?: ReadonlyMap<string, string>
  /** @default {@link DEFAULT_LIMITS} */
  readonly limits?: Partial<ExpressionLimits>
  /** `backtracking` is the engine of the platform, for trusted definitions only. @default 'linear' */
  readonly regex?: 'linear' | 'backtracking'
  /** Restores SonataFlow's fallback of wrapped texts (profile `sonataflow` only). @default false */
  readonly lenient?: boolean
  /** Allows keys of `$SECRET` that are computed from data. @default false */
  readonly dynamicSecrets?: boolean
  /** Names of the variables that bindings will have beside `$WORKFLOW`, `$CONST`, `$SECRET(S)`; absent when any may exist. */
  readonly variables?: readonly string[]
  readonly clock: Clock
  readonly ids: IdSource
  /** Receives what `debug` prints, and warnings of texts that fell back. */
  readonly logger?: Logger
  /** Called each time a text falls back to itself. */
  readonly onFallback?: (facts: FallbackFacts) => void
  /** Name of the definition's file, for errors. */
  readonly file?: string
  /** Id of the workflow, for errors. */
  readonly workflow?: string
}

// The most that the backtracking engine may search.
const LONGEST_SEARCHED = 10_000
/** Variables that every definition has. */
const STANDARD_VARIABLES = ['WORKFLOW', 'CONST', 'SECRET', 'SECRETS']

/**
 * Creates the compiler for the texts of one definition (expressions.md).
 *
 * @throws {@link DefinitionError} `DEFINITION_INVALID` for an unknown language.
 */
export function createExpressions(options: ExpressionsOptions): Expressions {
  return new DefinitionExpressions(options)
}

class DefinitionExpressions implements Expressions {
  readonly language: ExpressionLanguageName
  readonly sync: boolean
  readonly reads: Reads
  readonly #options: ExpressionsOptions
  readonly #limits: ExpressionLimits
  readonly #implementation: Language
  readonly #regex: RegexEngine

  constructor(options: ExpressionsOptions) {
    const variables = new Set<string>()
    const secrets = new Set<string>()
    this.#options = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.reads = { variables, secrets }
    this.language = options.language
    this.#implementation = createLanguage({
      language: options.language,
      limits: this.#limits,
      regex: options.regex ?? 'linear',
      clock: options.clock,
      ids: options.ids,
      logger: options.logger ?? silentLogger,
      dynamicSecrets: options.dynamicSecrets ?? false,
      ...(options.variables && { variables: [...STANDARD_VARIABLES, ...options.variables] }),
      onVariable: (name) => variables.add(name),
      onSecret: (key) => secrets.add(key),
    })
    this.sync = this.#implementation.sync
    this.#regex = createRegexEngine(options.regex ?? 'linear')
  }

  compileCondition(text: string, site: Site): Compiled<boolean> {
    if (text.trim() === '') throw blank('condition', site)
    const output = conditionOutput(this.#options.profile === 'spec')
    const { program, source } = this.#compile(this.#source(text, site, 'condition'))
    this.#checkAssignment(program, source)
    return this.#toCompiled(program, source, program.selects === true ? { ...output, one: isFilled } : output)
  }

  /** Refuses `.a = 1` as a condition; SonataFlow takes it, and what it makes counts as true. */
  #checkAssignment({ assignment }: Program, source: Source): void {
    if (assignment === undefined) return
    if (this.#options.profile === 'spec') throw syntaxError(new SyntaxFault('"=" assigns and gives the whole data', assignment, 'for equality write =='), source)
    this.#options.logger?.warn({ pointer: source.site.pointer }, 'a condition assigns, so it is always true; for equality write ==')
  }

  compileFilter(text: string, site: Site): Compiled<Json> {
    if (text.trim() === '') return { evaluate: (input) => input }
    const { program, source } = this.#compile(this.#source(text, site, 'filter'))
    return this.#toCompiled(program, source, JSON_OUTPUT)
  }

  compileList(text: string, site: Site): Compiled<readonly Json[]> {
    if (text.trim() === '') throw blank('collection', site)
    const { program, source } = this.#compile(this.#source(text, site, 'collection'))
    return this.#toCompiled(program, source, LIST_OUTPUT)
  }

  compileText(text: string, site: Site): Compiled<string> {
    const part = this.#argument(text, site, TEXT_OUTPUT)
    if (!('constant' in part)) return part.compiled
    const { constant } = part
    return { evaluate: () => constant }
  }

  compileTemplate(value: Json, site: Site, onFault?: FaultListener): Compiled<Json> {
    return compileTemplate(value, site, this.sync, (text, place): TemplateText => {
      try {
        return this.#argument(text, place, JSON_OUTPUT)
      } catch (error) {
        if (onFault === undefined || !(error instanceof DefinitionError || error instanceof ExpressionError)) throw error
        onFault(error)
        return { constant: text }
      }
    })
  }

  compileTarget(text: string, site: Site): Target {
    const { profile } = this.#options
    if (text.trim() === '') return pathTarget([], profile)
    const source = this.#source(text, site, 'target')
    const { program } = this.#compile(source)
    const target = program.keys ? pathTarget(program.keys, profile) : this.#named(text, program, source)
    const guard = <T>(run: () => T): T => {
      try {
        return run()
      } catch (error) {
        throw evaluationError(error, source)
      }
    }
    return {
      merge: (document, value) => guard(() => target.merge(document, value)),
      read: (document) => guard(() => target.read(document)),
      put: (document, value) => guard(() => target.put(document, value)),
    }
  }

  compilePattern(pattern: string, site: Site): (text: string) => boolean {
    try {
      const compiled = this.#regex.compile(pattern, { ignoreCase: false, extended: false, dotAll: false, longest: false })
      return (text) => compiled.test(text.slice(0, LONGEST_SEARCHED))
    } catch (error) {
      if (!(error instanceof RegexFault)) throw error
      throw syntaxError(new SyntaxFault(error.message, 0, error.hint), this.#source(pattern, site, 'pattern'))
    }
  }

  #named(text: string, program: Program, source: Source): Target {
    const name = /([A-Za-z_][\w-]*)[^A-Za-z_]*$/.exec(text)?.[1]
    if (name === undefined || !this.sync) {
      throw syntaxError(new SyntaxFault('this is no place in the data', 0, 'write a plain path such as .result'), source)
    }
    return namedTarget(name, (document) => JSON_OUTPUT.all(program.evaluateAll(document, NO_BINDINGS) as readonly Json[]), this.#options.profile)
  }

  #toCompiled<Result>(program: Program, source: Source, output: OutputTarget<Result>): Compiled<Result> {
    return toCompiled(program, output, source, this.sync)
  }

  /** A text inside arguments and data: an expression or a plain text. */
  #argument<Result>(text: string, site: Site, output: OutputTarget<Result>): { constant: string } | { compiled: Compiled<Result> } {
    const source = this.#source(text, site, 'argument')
    const { lenient = false, profile } = this.#options
    const tolerant = lenient && profile === 'sonataflow'
    const decision = decideText(text, this.language, profile)
    if (decision === 'text') return { constant: text }
    let compiled: { program: Program; source: Source }
    try {
      compiled = this.#compile(source)
    } catch (error) {
      if (decision === 'wrapped' && tolerant) this.#fellBack(source, error)
      if (decision === 'wrapped' && !tolerant) throw error
      if (error instanceof DefinitionError) throw error
      return { constant: text }
    }
    if (decision === 'guess' && compiled.program.plainNumbers === true) return { constant: text }
    const result = this.#toCompiled(compiled.program, compiled.source, output)
    return decision === 'guess' || tolerant ? { compiled: this.#withFallback(result, source, output) } : { compiled: result }
  }

  #withFallback<Result>(compiled: Compiled<Result>, source: Source, output: OutputTarget<Result>): Compiled<Result> {
    return {
      evaluate: (input, bindings) => {
        try {
          return compiled.evaluate(input, bindings)
        } catch (error) {
          this.#fellBack(source, error)
          return output.one(source.text)
        }
      },
    }
  }

  #fellBack(source: Source, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    const facts = { text: source.text, pointer: source.site.pointer, reason }
    this.#options.logger?.warn({ pointer: facts.pointer, reason }, 'an argument was taken as plain text because its expression failed')
    this.#options.onFallback?.(facts)
  }

  #source(text: string, site: Site, purpose: string): Source {
    const { workflow, file } = this.#options
    if (Buffer.byteLength(text) > this.#limits.maxLength) {
      throw refusal(site, `the expression is longer than ${this.#limits.maxLength} bytes`, 'compute it in several expressions, or in a function')
    }
    return {
      text, offset: 0, site, purpose, language: this.language,
      ...(workflow !== undefined && { workflow }), ...(file !== undefined && { file }),
    }
  }

  /** Follows references, takes the wrapper off and compiles; gives the source with the final text and offset. */
  #compile(source: Source): { program: Program; source: Source } {
    const lenient = this.#options.profile === 'sonataflow'
    const open = (text: string): ReturnType<typeof unwrap> => {
      try {
        return unwrap(text, this.language, lenient)
      } catch (error) {
        throw error instanceof SyntaxFault ? syntaxError(error, { ...source, text }) : error
      }
    }
    const inner = (text: string): string => {
      const opened = open(text)
      return opened.kind === 'parts' ? text : opened.expression
    }
    const resolved = resolveReference(source.text, this.#options.functions ?? new Map(), source.site, inner)
    const final = { ...source, text: resolved.text, ...(resolved.function !== undefined && { function: resolved.function }) }
    const wrapped = open(resolved.text)
    if (wrapped.kind === 'parts' && !lenient) {
      const program = interpolate(wrapped.parts, (text, offset) => this.#compileText(text, { ...final, offset }), this.sync)
      return { program, source: final }
    }
    const text = wrapped.kind === 'parts' ? resolved.text.trim() : wrapped.expression
    const offset = wrapped.kind === 'parts' ? 0 : wrapped.offset
    if (text === '') return { program: this.#compileText(this.#implementation.identity, { ...final, offset }), source: final }
    return { program: this.#compileText(text, { ...final, offset }), source: { ...final, offset } }
  }

  #compileText(text: string, source: Source): Program {
    try {
      return this.#implementation.compile(text)
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error
      throw syntaxError(error, source)
    }
  }
}

function isFilled(output: Json | undefined): boolean {
  return Array.isArray(output) && output.length > 0
}

function blank(what: string, site: Site): DefinitionError {
  return refusal(site, `the ${what} is empty`, 'write an expression, such as ${ .name }')
}

function refusal({ pointer, line }: Site, message: string, hint: string): DefinitionError {
  return new DefinitionError({
    code: 'DEFINITION_INVALID',
    message: `${message} (${pointer}); ${hint}`,
    violations: [{ pointer, message, hint, ...(line !== undefined && { line }) }],
  })
}
