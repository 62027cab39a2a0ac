import { TenancyError } from '../../../errors/index.ts'
import {
  invalidDocuments,
  isKnownKind,
  loadDocuments,
  loadText,
  parseValue,
  resolveInputs,
  validateLoaded,
  type EvaluatorOptions,
  type InputOptions,
  type LoadedDocument,
  type ResolvedInputs,
} from '../../../tenancy/index.ts'

/** What the verbs talk to. */
export interface PoliciesIo {
  stdout(text: string): void
  stderr(text: string): void
  readStdin(): Promise<string>
}

/** Runs a verb with the arguments behind it; gives the exit code. */
export type PoliciesVerb = (args: readonly string[], io: PoliciesIo) => Promise<number>

/** Options that every verb takes, in the form of `parseArgs`. */
export const COMMON_OPTIONS = {
  json: { type: 'boolean' },
  'root-namespace': { type: 'string' },
  'trust-domain': { type: 'string' },
} as const

/** Values of {@link COMMON_OPTIONS}. */
export interface CommonValues {
  readonly json?: boolean
  readonly 'root-namespace'?: string
  readonly 'trust-domain'?: string
}

/** Makes the evaluator's options from the common ones. */
export function toEvaluatorOptions(values: CommonValues): EvaluatorOptions {
  const root = values['root-namespace']
  const domain = values['trust-domain']
  return { ...(root === undefined ? {} : { rootNamespace: root }), ...(domain === undefined ? {} : { trustDomains: [domain] }) }
}

/** Documents of the kinds that policies are made of, and how many others there were. */
export interface KnownDocuments {
  readonly documents: readonly LoadedDocument[]
  readonly skipped: number
}

/**
 * Loads documents that must be valid; objects of other kinds are left out and counted on standard error.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` naming file, line and fault of the first invalid one, or when no file is given
 */
export async function loadValid(files: readonly string[], io: PoliciesIo): Promise<KnownDocuments> {
  if (files.length === 0) throw badUsage('no files are given; name the files or folders with the documents, or - for standard input')
  const loaded = await loadDocuments(files, () => io.readStdin())
  const violations = [...loaded.violations, ...validateLoaded(loaded.documents)]
  if (violations.length > 0) throw invalidDocuments(violations)
  return onlyKnown(loaded.documents, io)
}

/** Leaves out objects of kinds that are not policies, and says how many. */
export function onlyKnown(loaded: readonly LoadedDocument[], io: PoliciesIo): KnownDocuments {
  const documents = loaded.filter(({ value }) => isKnownKind(value))
  const skipped = loaded.length - documents.length
  if (skipped > 0) io.stderr(`skipped ${String(skipped)} object(s) of other kinds\n`)
  return { documents, skipped }
}

/** Loads a tenants file, or the values of one tenant. */
export async function loadInputs(file: string, io: PoliciesIo, options: InputOptions = {}): Promise<ResolvedInputs> {
  const text = file === '-' ? await io.readStdin() : await loadText(file)
  return resolveInputs(parseValue(text, file), file, options)
}

/** Makes the error for arguments that do not fit together. */
export function badUsage(message: string): TenancyError {
  return new TenancyError({ code: 'TENANCY_INVALID', message })
}

/** Reads an option that allows few values; `undefined` when it is not given. */
export function oneOf<Value extends string>(option: string, value: string | undefined, allowed: readonly Value[]): Value | undefined {
  if (value === undefined) return undefined
  const found = allowed.find((each) => each === value)
  if (found === undefined) throw badUsage(`--${option} is ${allowed.join(' or ')}, not "${value}"`)
  return found
}

/** Writes JSON for programs. */
export function printJson(value: unknown, io: PoliciesIo): void {
  io.stdout(`${JSON.stringify(value, null, 2)}\n`)
}

/** Lays rows out in columns under their heads. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, ...rows]
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines.map((line) => `${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()}\n`).join('')
}
