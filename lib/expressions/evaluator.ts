import type { DefinitionError, ExpressionError } from '../errors/index.ts'
import type { Json } from '../common/index.ts'

/** The three languages of a definition's `expressionLang` (S010). */
export type ExpressionLanguageName = 'jq' | 'jsonata' | 'jsonpath'

/** The language profile of a definition: where SonataFlow and the specification differ, this decides. */
export type Profile = 'spec' | 'sonataflow'

/** A value now, or later when the language is asynchronous (JSONata). */
export type MaybePromise<T> = T | Promise<T>

/**
 * What an expression can read besides its input: the variables by name, without `$`.
 *
 * `read` is called at most once per name and evaluation, and only when the program really reads the variable.
 * Gives `undefined` for an unknown name. A `LazyRecord` stands for an object whose members are read one by one.
 */
export interface Bindings {
  read(name: string): unknown
}

/** Where a text stands and what it is for; decides what it means and how its outputs are read. */
export interface Site {
  /** JSON pointer of the text in the definition. */
  readonly pointer: string
  /** Line of the text in the author's file, when known. */
  readonly line?: number
}

/** Something compiled from a definition that is evaluated against data. */
export interface Compiled<Result> {
  /**
   * Evaluates against a document. Never changes it; the result may share structure with it.
   *
   * @throws {@link ExpressionError} `EXPRESSION_FAILED` or `EXPRESSION_LIMIT`; an asynchronous one rejects with it.
   */
  evaluate(input: Json, bindings: Bindings): MaybePromise<Result>
}

/** The place in a document that `toStateData`, `outputCollection` and the like name. */
export interface Target {
  /**
   * Merges a value into the document at the target (S151, S154): the target is created with its parents when missing.
   *
   * Gives a new document that shares what did not change.
   */
  merge(document: Json, value: Json): Json
  /** Reads the value at the target; `undefined` when nothing is there. */
  read(document: Json): Json | undefined
  /** Puts a value at the target, replacing what is there. */
  put(document: Json, value: Json): Json
}

/** Facts about the texts compiled so far, for lint, the inspector and the check that all secrets are declared (A21). */
export interface Reads {
  /** Names of variables read, without `$`. */
  readonly variables: ReadonlySet<string>
  /** Keys read from `$SECRET` or `$SECRETS` by literal. */
  readonly secrets: ReadonlySet<string>
}

/** Receives the fault of one text of many, so that the author sees all of them at once. */
export type FaultListener = (fault: DefinitionError | ExpressionError) => void

/**
 * Compiles the texts of one definition; made once per definition at load (see {@link createExpressions}).
 *
 * Each `compile…` throws {@link ExpressionError} `EXPRESSION_SYNTAX` with text, position, caret and hint. Whether a text is an
 * expression at all follows the place and the profile (A04, expressions.md "Texts, wrappers and references").
 */
export interface Expressions {
  readonly language: ExpressionLanguageName
  /** False when `evaluate` gives promises: a guard can then not call it. */
  readonly sync: boolean
  /** A condition: no output and null are false; another non-boolean is an error in profile `spec` (A07). */
  compileCondition(text: string, site: Site): Compiled<boolean>
  /** A filter, `results`, or the operation of an expression function: value, null without output, array of many (A18). */
  compileFilter(text: string, site: Site): Compiled<Json>
  /** A value that may hold expressions at any depth: `arguments`, event data, `contextAttributes`, inject data (S174, A04, A17). With `onFault` each text that does not compile is told and left as it is. */
  compileTemplate(value: Json, site: Site, onFault?: FaultListener): Compiled<Json>
  /** A list: `inputCollection`. */
  compileList(text: string, site: Site): Compiled<readonly Json[]>
  /** A text: log messages, error messages; values are joined by one blank, null is empty. */
  compileText(text: string, site: Site): Compiled<string>
  /** A place: `toStateData`, `outputCollection`. */
  compileTarget(text: string, site: Site): Target
  /**
   * A regular expression that stands in the definition by itself, such as a code of its errors: tells whether a text has a match.
   *
   * It runs on the engine of the setting `sonatina.expressions.regex`; of a long text the beginning is searched, 10,000
   * characters.
   *
   * @throws {@link ExpressionError} `EXPRESSION_SYNTAX` for what does not parse and for what the engine refuses.
   */
  compilePattern(pattern: string, site: Site): (text: string) => boolean
  readonly reads: Reads
}
