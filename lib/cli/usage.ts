import { parseArgs, type ParseArgsConfig } from 'node:util'
import { RequestError } from '../errors/index.ts'

/** Options of a command by name, as `node:util` parses them. */
export type OptionShapes = NonNullable<ParseArgsConfig['options']>

/** What the arguments of a command say. */
export interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>
  readonly positionals: readonly string[]
}

/** A command was called wrongly; the message says how. */
export class UsageError extends RequestError {}

/** Makes a {@link UsageError}. */
export function usageError(message: string): UsageError {
  return new UsageError({ code: 'REQUEST_INVALID', message })
}

/**
 * Parses arguments; `-Dkey=value` is read as `--set key=value` where `set` is known.
 *
 * @throws {@link UsageError} for an unknown option or a missing value, naming near ones
 */
export function parseArguments(args: readonly string[], options: OptionShapes): Arguments {
  const spelt = 'set' in options ? args.flatMap((arg) => (/^-D[^=]+/.test(arg) ? ['--set', arg.slice(2)] : [arg])) : [...args]
  try {
    const { values, positionals } = parseArgs({ args: spelt, options, allowPositionals: true, strict: true })
    return { values, positionals }
  } catch (error) {
    const unknown = /'(--?[^' ]+)/.exec((error as Error).message)?.[1]
    const near = unknown === undefined ? [] : nearest(unknown.replace(/^-+/, ''), Object.keys(options))
    const first = (error as Error).message.split(/\. |\n/, 1)[0] ?? ''
    throw usageError(near.length === 0 ? `${first}.` : `${first}. Did you mean ${near.map((name) => `--${name}`).join(' or ')}?`)
  }
}

/** Splits `key=value` settings. @throws {@link UsageError} */
export function parseSettings(texts: readonly (string | boolean)[]): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const text of texts) {
    const at = String(text).indexOf('=')
    if (at <= 0) throw usageError(`"${String(text)}" is no setting. Write --set key=value or -Dkey=value.`)
    settings[String(text).slice(0, at).trim()] = String(text).slice(at + 1)
  }
  return settings
}

/** Gives the names that differ from a word by at most two edits, or begin with it; nearest first. */
export function nearest(word: string, names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, distance: name.startsWith(word) && word.length > 1 ? 0 : distance(word, name) }))
    .filter((each) => each.distance <= 2)
    .sort((left, right) => left.distance - right.distance)
    .map(({ name }) => name)
}

// Levenshtein, one row at a time.
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same))
    }
    row = next
  }
  return row[right.length] ?? 0
}
