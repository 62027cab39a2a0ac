import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { isFolder } from '../corpus.ts'
import { CaseFault } from './case-fault.ts'
import type { Resumption } from './resumption.ts'

/** A JSON object read from a case. */
export type Fields = Readonly<Record<string, unknown>>

/** Who says what a case expects; see the README of the corpus. */
type Oracle = 'asserted' | 'documented' | 'derived' | 'read' | 'none'

/** One step of a case: the property that names it, and everything beside it. */
export interface Step extends Fields {
  readonly name?: string
  readonly needs?: readonly string[]
  readonly expect?: Fields
}

/** A host function that a case asks for. */
export interface CustomFunction {
  readonly operation: string
  readonly name: string
  readonly args?: readonly string[]
  readonly behaviour: string
}

/** A case as its file has it; the README of the corpus explains the properties. */
export interface CaseFile {
  readonly id: string
  readonly group: string
  readonly kind: 'http' | 'run' | 'load' | 'data' | 'simulate'
  readonly feature: string
  readonly oracle: Oracle
  readonly source: readonly string[]
  readonly workflow?: string
  readonly definitions: readonly (string | Fields)[]
  readonly twin?: string
  readonly properties?: readonly string[]
  readonly needs: readonly string[]
  readonly config?: Readonly<Record<string, string | number | boolean>>
  readonly mocks?: readonly Fields[]
  readonly customFunctions?: readonly CustomFunction[]
  readonly exercisedBy?: string
  readonly patch?: readonly Fields[]
  readonly resources?: Readonly<Record<string, string | Fields>>
  readonly secrets?: Readonly<Record<string, string>>
  readonly clock?: string
  readonly loopback?: boolean
  readonly stubs?: Readonly<Record<string, Fields | readonly Fields[]>>
  readonly subflows?: Readonly<Record<string, Fields>>
  readonly readings?: readonly string[]
  readonly steps: readonly Step[]
}

/** A case with where it was found. */
export interface LoadedCase {
  /** `<group>/<id>`: ids are unique in a group only. */
  readonly key: string
  /** Folder that the paths of the case are relative to. */
  readonly folder: string
  readonly file: CaseFile
  /** Settings of the whole run, which win over those of the case: another store, for one. */
  readonly settings?: Readonly<Record<string, unknown>>
  /** Stops the product at each wait and resumes it from its store, where the whole run does that. */
  readonly resumption?: Resumption
  /** What is wrong with the file itself; then it must not be run. */
  readonly fault?: string
}

const REQUIRED_KEYS = ['id', 'group', 'kind', 'feature', 'oracle', 'source', 'definitions', 'needs', 'steps']

// The schema beside a corpus says the same; a corpus may come without it.
const CASE_KEYS = [
  ...REQUIRED_KEYS, 'workflow', 'twin', 'properties', 'patch', 'resources', 'config', 'secrets', 'clock', 'loopback', 'mocks', 'customFunctions',
  'stubs', 'subflows', 'expected', 'runUntested', 'exercisedBy', 'notes', 'readings', 'crossChecked',
]

/** Reads all cases of a corpus, in the order of their keys; a broken file is a case with a fault. */
export async function loadCases(corpus: string): Promise<LoadedCase[]> {
  const validate = await caseSchema(corpus)
  const workflows = join(corpus, 'workflows')
  const cases: LoadedCase[] = []
  for (const group of (await readdir(workflows)).sort()) {
    const folder = join(workflows, group)
    if (!await isFolder(join(folder, 'cases'))) continue
    for (const name of (await readdir(join(folder, 'cases'))).sort()) {
      if (name.endsWith('.yaml')) cases.push(await loadCase({ folder, group, name }, validate))
    }
  }
  return cases
}

interface CasePlace {
  readonly folder: string
  readonly group: string
  readonly name: string
}

async function loadCase({ folder, group, name }: CasePlace, validate: ValidateFunction | undefined): Promise<LoadedCase> {
  const id = name.replace(/\.yaml$/, '')
  const key = `${group}/${id}`
  const broken = (fault: string): LoadedCase => ({ key, folder, file: emptyCase(id, group), fault })
  let value: unknown
  try {
    value = parse(await readFile(join(folder, 'cases', name), 'utf8'))
  } catch (error) {
    return broken(`the case is not YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (validate !== undefined && !validate(value)) return broken(`the case breaks format.schema.json: ${faultsOf(value, validate)}`)
  const file = value as CaseFile
  const unknown = Object.keys(file).filter((name) => !CASE_KEYS.includes(name))
  if (unknown.length > 0) return broken(`the case has properties that this runner does not know: ${unknown.join(', ')}`)
  const missing = REQUIRED_KEYS.filter((name) => !(name in file))
  if (missing.length > 0) return broken(`the case lacks ${missing.join(', ')}`)
  if (file.id !== id) return broken(`id is "${file.id}", the file is called "${name}"`)
  if (file.group !== group) return broken(`group is "${file.group}", the folder is "${group}"`)
  return { key, folder, file }
}

function emptyCase(id: string, group: string): CaseFile {
  return { id, group, kind: 'data', feature: id, oracle: 'none', source: [], definitions: [], needs: [], steps: [] }
}

async function caseSchema(corpus: string): Promise<ValidateFunction | undefined> {
  const text = await readFile(join(corpus, 'format.schema.json'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  return new Ajv2020({ allErrors: true, strict: false, verbose: true }).compile(JSON.parse(text) as object)
}

/** The faults worth telling: those of a step are told for the kind of step that it comes nearest to. */
function faultsOf(value: unknown, validate: ValidateFunction): string {
  const errors = validate.errors ?? []
  const general = errors.filter(({ instancePath }) => !/^\/steps\/\d+/.test(instancePath))
  const texts = general.map(({ instancePath, message, params }) => `${instancePath || '/'} ${message ?? ''} ${JSON.stringify(params)}`)
  const steps = new Set(errors.map(({ instancePath }) => /^\/steps\/(\d+)/.exec(instancePath)?.[1]).filter((index) => index !== undefined))
  for (const index of steps) {
    const step = (value as { steps: readonly Fields[] }).steps[Number(index)] ?? {}
    const unknown = errors
      .filter(({ instancePath, keyword }) => instancePath.startsWith(`/steps/${index}`) && keyword === 'additionalProperties')
      .map(({ params }) => String((params as Fields)['additionalProperty']))
    texts.push(`step ${Number(index) + 1} with the properties ${Object.keys(step).join(', ')} fits no kind of step; `
      + `in question: ${[...new Set(unknown)].join(', ') || 'its values'}`)
  }
  return texts.slice(0, 5).join('; ')
}

/** Throws when an object has a property that the runner does not know: nothing in a case is passed over in silence. */
export function assertKnown(fields: Fields, known: readonly string[], place: string): void {
  const unknown = Object.keys(fields).filter((key) => !known.includes(key))
  if (unknown.length > 0) throw new CaseFault(`${place} has properties that this runner does not know: ${unknown.join(', ')}`)
}
