import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { nearestNames } from '../common/index.ts'
import { RequestError } from '../errors/index.ts'
import type { CommandIo } from './io.ts'

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
  return parsePairs(texts, 'is no setting. Write --set key=value or -Dkey=value.')
}

/** Splits texts `name=value`. @param fault what is said of one that is none @throws {@link UsageError} */
export function parsePairs(texts: readonly (string | boolean)[], fault: string): Record<string, string> {
  const pairs: Record<string, string> = {}
  for (const text of texts) {
    const at = String(text).indexOf('=')
    if (at <= 0) throw usageError(`"${String(text)}" ${fault}`)
    pairs[String(text).slice(0, at).trim()] = String(text).slice(at + 1)
  }
  return pairs
}

/** Reads a file that an argument names, `-` for standard input. @throws {@link UsageError} when it cannot be read */
export async function readText(path: string, io: Pick<CommandIo, 'cwd' | 'read'>): Promise<string> {
  return path === '-' ? io.read() : readFile(resolve(io.cwd, path), 'utf8').catch((error: unknown) => {
    throw usageError(`${path} cannot be read: ${(error as Error).message}`)
  })
}

/** Gives the absolute path of a directory that an argument names; without one the working directory. @throws {@link UsageError} when there is none */
export async function readDirectory(place: unknown, cwd: string): Promise<string> {
  if (typeof place !== 'string') return cwd
  const path = resolve(cwd, place)
  const status = await stat(path).catch(() => undefined)
  if (status?.isDirectory() !== true) throw usageError(`"${place}" is no directory here`)
  return path
}

/** Gives the names that begin with a word or differ from it by at most two edits; nearest first. */
export function nearest(word: string, names: readonly string[]): string[] {
  const begun = word.length > 1 ? names.filter((name) => name.startsWith(word)) : []
  return [...new Set([...begun, ...nearestNames(word, names, { within: 2, most: names.length })])]
}
