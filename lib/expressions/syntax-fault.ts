/** A text that does not parse: where and why, before it is known which definition it stands in. */
export class SyntaxFault extends Error {
  /** Offset of the fault in the text, from 0. */
  readonly offset: number
  /** What would be right. */
  readonly hint: string

  constructor(message: string, offset: number, hint: string) {
    super(message)
    this.offset = offset
    this.hint = hint
  }
}
