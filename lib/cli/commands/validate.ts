import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { silentLogger } from '../../common/index.ts'
import { parseDocument, type Catalogue, type LoadFailure, type LoadedDefinition } from '../../definition/index.ts'
import { SonatinaError, type Violation } from '../../errors/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, parseSettings, readDirectory, usageError } from '../usage.ts'
import { nameFile, wordViolations } from '../violations.ts'
import type { CreateRuntime } from './serve.ts'

const HELP = `sonatina validate FILE or DIRECTORY ... [options]

Checks definitions as they would be served, and lists everything that is wrong with them: form, meaning, expressions, functions.

  --root DIRECTORY   project with settings and specs      (the directory, if it has workflows or settings; else the working directory)
  --profile NAME     configuration profile
  --set KEY=VALUE    a setting; also -DKEY=VALUE; repeatable
  --strict           warnings count as faults
  --quiet            tells faults only
  --help             this text

Exit code 0: all are valid; 1: some are not; 2: called wrongly.`

/** What a directory has that is a project, and not a part of one. */
const PROJECT: readonly string[] = ['workflows', 'specs', 'application.properties', 'src/main/resources']

/** Runs `sonatina validate`. */
export function validateCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return validate(args, io)
}

/** Checks the definitions that the arguments name; `create` is handed in so that tests can look at what is asked of a runtime. */
export async function validate(args: readonly string[], io: CommandIo, create: CreateRuntime = createRuntime): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    root: { type: 'string' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    strict: { type: 'boolean' },
    quiet: { type: 'boolean', short: 'q' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  if (positionals.length === 0) throw usageError('no file or directory is named')
  const places = await readPlaces(positionals, values['root'], io.cwd)
  const runtime = await create({
    ...places,
    arguments: Object.entries(parseSettings((values['set'] ?? []) as readonly string[])).map(([key, value]) => `${key}=${value}`),
    // Nothing is run, so nothing has to be kept.
    settings: { 'sonatina.store': 'memory' },
    log: silentLogger,
    ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}),
  })
  try {
    return await report(runtime.catalogue, { ...places, isStrict: values['strict'] === true, isQuiet: values['quiet'] === true }, io)
  } finally {
    await runtime.close(0)
  }
}

interface Manner {
  /** Warnings count as faults. */
  readonly isStrict: boolean
  readonly isQuiet: boolean
}

/** Tells faults and warnings; gives the exit code. */
async function report(catalogue: Catalogue, { definitions, isStrict, isQuiet }: Places & Manner, io: CommandIo): Promise<number> {
  const { failures } = catalogue
  const loaded = everyVersion(catalogue)
  for (const failure of failures) io.err(await wordFailure(failure, io.cwd))
  const warnings = isQuiet && !isStrict ? 0 : await tellDoubts(catalogue, definitions, io)
  if (loaded.length + failures.length === 0) {
    io.err('There is no definition among the named files: no *.sw.json, *.sw.yaml, *.sw.yml, nor another JSON or YAML file with id and states.')
    return 1
  }
  if (!isQuiet) io.out(summary(loaded.length, failures.length, warnings))
  return failures.length > 0 || (isStrict && warnings > 0) ? 1 : 0
}

async function tellDoubts(catalogue: Catalogue, definitions: Places['definitions'], io: CommandIo): Promise<number> {
  const told = tellWarnings(everyVersion(catalogue), await onlyFiles(definitions), io)
  return told + (definitions === undefined ? tellRemarks(catalogue.remarks ?? [], io) : 0)
}

function everyVersion(catalogue: Catalogue): readonly LoadedDefinition[] {
  return catalogue.all?.() ?? catalogue.list()
}

interface Places {
  readonly root: string
  /** Absent when the root is checked as a whole. */
  readonly definitions?: readonly string[]
}

/** A directory that is a project is checked as it would be served; other places belong to the project of `--root`. */
async function readPlaces(places: readonly string[], root: unknown, cwd: string): Promise<Places> {
  const paths = places.map((place) => resolve(cwd, place))
  const [only] = paths
  if (root === undefined && only !== undefined && paths.length === 1 && await isProject(only)) return { root: only }
  return { root: await readDirectory(root, cwd), definitions: paths }
}

async function isProject(path: string): Promise<boolean> {
  const marks = await Promise.all(PROJECT.map((name) => stat(join(path, name)).catch(() => undefined)))
  return marks.some((mark) => mark !== undefined)
}

const createRuntime: CreateRuntime = async (options) => (await import('../../runtime.ts')).createRuntime(options)

function summary(valid: number, invalid: number, warnings: number): string {
  const count = (number: number, noun: string): string => `${String(number)} ${noun}${number === 1 ? '' : 's'}`
  return `${count(valid, 'definition')} valid, ${String(invalid)} not, ${count(warnings, 'warning')}.`
}

async function wordFailure({ uri, error }: LoadFailure, cwd: string): Promise<string> {
  const text = await readText(uri)
  const violations = error.violations.map((violation) => placed(violation, uri, text))
  return wordViolations(uri, { message: error.message, violations }, { cwd, text })
}

/** Tells whether files were named one by one: what one of them calls may stand in another that was not named. */
async function onlyFiles(definitions: readonly string[] | undefined): Promise<boolean> {
  const entries = await Promise.all((definitions ?? []).map((path) => stat(path).catch(() => undefined)))
  return definitions !== undefined && entries.every((entry) => entry?.isDirectory() !== true)
}

/** Which settings a project has no use for shows only when all of it is looked at. */
function tellRemarks(remarks: readonly string[], io: CommandIo): number {
  for (const remark of remarks) io.out(`warning: ${remark}`)
  return remarks.length
}

function tellWarnings(loaded: readonly LoadedDefinition[], isPart: boolean, io: CommandIo): number {
  let count = 0
  for (const { source, warnings } of loaded) {
    const lines = source.text.split('\n')
    for (const { pointer, line, message, rule } of warnings) {
      if (isPart && rule === 'missing-workflow') continue
      count += 1
      const place = line === undefined ? '' : `:${String(line)}`
      io.out(`${nameFile(source.uri, io.cwd)}${place}: warning: ${message} (${rule}${pointer === '' ? '' : `, at ${pointer}`})`)
      const text = line === undefined ? undefined : lines[line - 1]?.trim()
      if (text !== undefined && text.length < 120) io.out(`    ${text}`)
    }
  }
  return count
}

/** Adds line and column to a violation that names only its place in the document. */
function placed(violation: Violation, uri: string, text: string): Violation {
  if (violation.line !== undefined || text === '') return violation
  try {
    const position = parseDocument(text, { uri }).position(violation.pointer)
    return position === undefined ? violation : { ...violation, ...position }
  } catch (error) {
    // A document that does not parse has told its lines itself.
    if (SonatinaError.is(error)) return violation
    throw error
  }
}

async function readText(uri: string): Promise<string> {
  try {
    return await readFile(uri.startsWith('file:') ? fileURLToPath(uri) : uri, 'utf8')
  } catch {
    // Told without the line it stands in: the file is not there, or is none.
    return ''
  }
}
