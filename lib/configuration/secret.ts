import { inspect } from 'node:util'

/** A value that shows itself only to the one who asks: text, JSON and `util.inspect` give `***`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Gives the value; keep it out of logs, errors and anything stored. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '***'
  }

  toJSON(): string {
    return '***'
  }

  [inspect.custom](): string {
    return '***'
  }
}
