import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import type { Json, JsonObject } from '../../lib/common/index.ts'
import { loadDefinition, type LoadedDefinition } from '../../lib/definition/index.ts'
import { applyPatch, type PatchOperation } from '../unit/definition/support/json-patch.ts'

/** A definition of the corpus with an input that its cases give it. */
export interface CorpusRun {
  readonly title: string
  readonly loaded: LoadedDefinition
  readonly inputs: readonly Json[]
  /** Results of functions, by name; used one after another. */
  readonly stubs: Readonly<Record<string, readonly Json[]>>
  /** Data of the events that its cases deliver, by type. */
  readonly events: Readonly<Record<string, Json>>
}

interface CaseShape {
  readonly id: string
  readonly definitions?: readonly (string | JsonObject)[]
  readonly patch?: readonly PatchOperation[]
  readonly resources?: Readonly<Record<string, string | JsonObject>>
  readonly stubs?: Readonly<Record<string, JsonObject | readonly JsonObject[]>>
  readonly steps?: readonly JsonObject[]
}

/** Reads the definitions of all cases of a group that load; the others are told by number. */
export async function corpusRuns(corpus: string, group: string): Promise<{ readonly runs: readonly CorpusRun[]; readonly refused: number }> {
  const folder = join(corpus, 'workflows', group)
  const runs: CorpusRun[] = []
  let refused = 0
  for (const name of (await readdir(join(folder, 'cases'))).sort()) {
    const file = parse(await readFile(join(folder, 'cases', name), 'utf8')) as CaseShape
    for (const definition of file.definitions ?? []) {
      const loaded = await load(folder, group, file, definition)
      if (loaded === undefined) { refused += 1; continue }
      const inputs = inputsOf(file)
      runs.push({ title: `${group}/${file.id} (${loaded.definition.id})`, loaded, inputs, stubs: stubsOf(file), events: eventsOf(file) })
    }
  }
  return { runs, refused }
}

async function load(folder: string, group: string, file: CaseShape, definition: string | JsonObject): Promise<LoadedDefinition | undefined> {
  const uri = typeof definition === 'string' ? join(folder, definition) : join(folder, `${file.id}.sw.json`)
  try {
    const document = typeof definition === 'string' ? parse(await readFile(uri, 'utf8')) as Json : definition
    const readResource = async (name: string): Promise<string> => {
      const resource = file.resources?.[name]
      if (resource === undefined) throw new Error(`no resource ${name}`)
      return typeof resource === 'string' ? readFile(join(folder, resource), 'utf8') : JSON.stringify(resource)
    }
    return await loadDefinition({ uri, document: applyPatch(document, file.patch ?? []) }, {
      profile: group === 'spec-0.8' ? 'spec' : 'sonataflow', root: dirname(uri), readResource,
    })
  } catch {
    // What does not load has cases of its own.
    return undefined
  }
}

function inputsOf({ steps = [] }: CaseShape): readonly Json[] {
  const found = steps.flatMap((step): Json[] => {
    if ('start' in step) return [step['start'] ?? {}]
    const body = step['body'] ?? (step['run'] as JsonObject | undefined)?.['input']
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return []
    return [(body as JsonObject)['workflowdata'] ?? body]
  })
  return found.length === 0 ? [{}] : found.slice(0, 3)
}

function stubsOf({ stubs = {} }: CaseShape): Record<string, readonly Json[]> {
  const results = (stub: JsonObject | readonly JsonObject[]): readonly Json[] => (Array.isArray(stub) ? stub as readonly JsonObject[] : [stub])
  return Object.fromEntries(Object.entries(stubs).map(([name, stub]) => [name, results(stub)]))
}

function eventsOf({ steps = [] }: CaseShape): Record<string, Json> {
  const found = steps.flatMap((step): [string, Json][] => {
    const event = (step['event'] ?? (step['emit'] as JsonObject | undefined)?.['cloudevent']) as JsonObject | undefined
    return typeof event?.['type'] === 'string' ? [[event['type'], event['data'] ?? {}]] : []
  })
  return Object.fromEntries(found)
}
