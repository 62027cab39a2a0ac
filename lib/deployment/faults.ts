import { createSourceLocator, describeViolation, inDocumentOrder, type LoadedDefinition, type SourceLocator } from '../definition/index.ts'
import { DefinitionError, ExpressionError, type Violation } from '../errors/index.ts'

/** Collects what is wrong with a definition, so that an author sees all of it at once, each with its place in the file. */
export class Faults {
  readonly #loaded: LoadedDefinition
  readonly #locate: SourceLocator
  readonly #violations: Violation[] = []
  #unsupported = true

  constructor(loaded: LoadedDefinition) {
    this.#loaded = loaded
    this.#locate = createSourceLocator(loaded.source)
  }

  get any(): boolean {
    return this.#violations.length > 0
  }

  /** What was kept, in the order of the document. */
  get violations(): readonly Violation[] {
    return [...this.#violations].sort(inDocumentOrder)
  }

  /** Runs a step; a fault is kept and the result is absent. */
  try<Result>(pointer: string, run: () => Result): Result | undefined {
    try {
      return run()
    } catch (error) {
      this.add(pointer, error)
      return undefined
    }
  }

  /** Keeps a fault; the pointer is for one that does not know its place. */
  add(pointer: string, error: unknown): void {
    if (!(error instanceof DefinitionError) && !(error instanceof ExpressionError)) throw error
    if (error.code !== 'DEFINITION_UNSUPPORTED') this.#unsupported = false
    if (error instanceof ExpressionError) {
      if (!this.#isTold(error)) this.#violations.push(this.#expressionFault(pointer, error))
    } else if (error.violations.length === 0) this.#violations.push(this.#placed({ pointer, message: error.message }))
    else this.#violations.push(...error.violations.map((violation) => this.#placed(violation)))
  }

  /** Makes the error that refuses the definition. */
  toError(): DefinitionError {
    const { definition, source } = this.#loaded
    const { violations } = this
    const list = violations.map((violation) => `  ${describeViolation(violation)}`)
    return new DefinitionError({
      code: this.#unsupported ? 'DEFINITION_UNSUPPORTED' : 'DEFINITION_INVALID',
      message: `Workflow "${definition.id}" (${source.uri}) cannot run:\n${list.join('\n')}`,
      violations,
    })
  }

  /** A function whose operation does not compile is told there, not once more at each place that refers to it. */
  #isTold({ details }: ExpressionError): boolean {
    const index = this.#loaded.definition.functions.findIndex(({ name }) => name === details['function'])
    return index >= 0 && this.#violations.some(({ pointer }) => pointer === `/functions/${String(index)}/operation`)
  }

  #placed(violation: Violation): Violation {
    return violation.line === undefined ? { ...violation, ...this.#locate(violation.pointer) } : violation
  }

  /** Line and column of an expression error count inside its text; a violation has those of the file. */
  #expressionFault(fallback: string, { message, details }: ExpressionError): Violation {
    const { pointer = fallback, text, offset, reason, hint, function: operation } = details as Partial<ExpressionFacts>
    const place = text === undefined || offset === undefined ? undefined : this.#locate(pointer, { text, offset })
    const advice = hint === undefined ? {} : { hint }
    // Without a file the message has to say where in the text; it ends with the hint.
    if (place === undefined || reason === undefined) return { pointer, message: hint === undefined ? message : message.slice(0, -`; ${hint}`.length), ...place, ...advice }
    const origin = operation === undefined ? '' : `, in the operation of function "${operation}"`
    return { pointer, message: `${reason}${origin}`, ...place, ...advice }
  }
}

interface ExpressionFacts {
  readonly pointer: string
  readonly text: string
  readonly offset: number
  readonly reason: string
  readonly hint: string
  readonly function: string
}
