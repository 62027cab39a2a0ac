/** Lines that the product and the host functions have written since a case began. */
export class LogStore {
  private readonly texts: string[] = []
  /** Lines of `sysout` functions only. */
  readonly printed: string[] = []

  /** Takes a line of the product's log: JSON, of which the message counts too. */
  readonly write = (line: string): void => {
    const text = line.trimEnd()
    this.texts.push(text)
    const message = messageOf(text)
    if (message !== undefined) this.texts.push(message)
  }

  /** Takes a line of text. */
  readonly add = (line: string): void => {
    this.texts.push(line)
  }

  /** Takes a line that a `sysout` function prints. */
  readonly print = (line: string): void => {
    this.printed.push(line)
    this.texts.push(line)
  }

  /** Gives the first text that no line holds after the lines of those before it; `undefined` when all are there in order. */
  missing(texts: readonly string[]): string | undefined {
    let from = 0
    for (const text of texts) {
      const index = this.texts.findIndex((line, position) => position >= from && line.includes(text))
      if (index < 0) return text
      from = index
    }
    return undefined
  }

  /** Counts the messages that hold a text. */
  count(text: string): number {
    return this.texts.filter((line) => !line.startsWith('{') && line.includes(text)).length
  }

  /** The last lines, for the reason of a failure. */
  tail(count: number): string {
    return this.texts.filter((line) => !line.startsWith('{')).slice(-count).join(' | ')
  }
}

function messageOf(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const { msg } = JSON.parse(line) as { readonly msg?: unknown }
    return typeof msg === 'string' ? msg : undefined
  } catch {
    return undefined
  }
}
