import type { Json } from '../common/index.ts'
import type { Bindings, ExpressionLanguageName, MaybePromise } from './evaluator.ts'

/**
 * A compiled program of one language: what templates, filters and conditions are made from.
 *
 * Failures are thrown (or rejected) as {@link ProgramFailure}; the caller knows where the text stands.
 */
export interface Program {
  /** Gives the only output of a program that analysis proved to have at most one: `undefined` for none. */
  readonly evaluateOne?: (input: Json, bindings: Bindings) => MaybePromise<Json | undefined>
  /** Gives all outputs. */
  evaluateAll(input: Json, bindings: Bindings): MaybePromise<readonly Json[]>
  /** Hands outputs over one by one, so that those before a failure are seen. */
  evaluateEach?(input: Json, bindings: Bindings, emit: (output: Json) => void): void
  /** True for the identity: the output is the input. */
  readonly identity?: boolean
  /** The plain path of keys that the program is, when it is one. */
  readonly keys?: readonly (string | number)[]
  /** True when the output is the list of what was found, so that a condition asks whether it is empty. */
  readonly selects?: boolean
  /** Offset of the `=` when the program gives what an assignment makes. */
  readonly assignment?: number
  /** True when the program holds nothing but numbers and arithmetic, as `1.0` or `2024-01-01` do. */
  readonly plainNumbers?: boolean
}

/** What a language offers to the rest of the module. */
export interface Language {
  readonly name: ExpressionLanguageName
  /** False when evaluation gives promises. */
  readonly sync: boolean
  /** Text of the program that gives its input. */
  readonly identity: string
  /**
   * Compiles a text without wrapper.
   *
   * @throws {@link SyntaxFault} when it does not parse or refers to something unknown.
   */
  compile(text: string): Program
}

/** A program failed while it ran. */
export class ProgramFailure extends Error {
  readonly kind: 'failed' | 'limit'
  /** Offset in the program, where known. */
  readonly offset: number | undefined

  constructor(kind: 'failed' | 'limit', message: string, offset?: number, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.offset = offset
  }
}
