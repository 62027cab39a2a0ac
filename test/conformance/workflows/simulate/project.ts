import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { parse } from 'yaml'
import { assertKnown, type CaseFile, type Fields, type LoadedCase } from '../case-file.ts'
import { applyPatch } from './patch.ts'

/** A definition as the product gets it. */
export interface DefinitionText {
  readonly uri: string
  readonly text: string
}

/** The project directory of a case: its definitions patched, its resources beside them. */
export interface Project {
  readonly root: string
  /** The definition under test first, then those of sub-flows. */
  readonly definitions: readonly DefinitionText[]
  /** The definition under test as a document; `undefined` when its text does not parse. */
  readonly document: Fields | undefined
  /** Documents of the definitions and of the resources: names of functions are read from them. */
  readonly documents: readonly Fields[]
  /** Reads resources with an address on the network. */
  readResource(uri: string): Promise<string>
  close(): Promise<void>
}

/** Lays the files of a case out in a directory of their own; `twin` takes the other notation. */
export async function createProject(loaded: LoadedCase, twin?: string): Promise<Project> {
  const { file, folder } = loaded
  const root = await mkdtemp(join(tmpdir(), 'conformance-'))
  const { remote, documents } = await layOutResources(loaded, root)
  const prepared = await Promise.all(wantedDefinitions(file, twin).map((wanted, index) => prepare(wanted, { root, folder, index })))
  const read = prepared.map(({ document }) => document)
  return {
    root,
    definitions: prepared.map(({ given }) => given),
    document: read[0],
    documents: [...read.filter((document) => document !== undefined), ...documents],
    readResource: (uri) => {
      const text = remote.get(uri)
      return text === undefined ? Promise.reject(new Error(`the case has no resource ${uri}`)) : Promise.resolve(text)
    },
    close: () => rm(root, { recursive: true, force: true }),
  }
}

async function layOutResources({ file, folder }: LoadedCase, root: string): Promise<{ readonly remote: Map<string, string>; readonly documents: readonly Fields[] }> {
  const remote = new Map<string, string>()
  const documents: Fields[] = []
  for (const [uri, resource] of Object.entries(file.resources ?? {})) {
    const text = typeof resource === 'string' ? await readFile(join(folder, resource), 'utf8') : JSON.stringify(resource)
    documents.push(parse(text) as Fields)
    if (/^https?:/.test(uri)) remote.set(uri, text)
    else await write(join(root, uri.replace(/^file:(?:\/\/)?|^classpath:\/*/, '')), text)
  }
  return { remote, documents }
}

/** A definition of a case with the patch that makes it runnable. */
interface WantedDefinition {
  readonly definition: string | Fields
  readonly patch?: readonly Fields[]
}

/** The definition under test first, then those that are deployed beside it. */
function wantedDefinitions(file: CaseFile, twin: string | undefined): readonly WantedDefinition[] {
  const [main = {}, ...others] = file.definitions
  const subflows = Object.entries(file.subflows ?? {}).filter(([, subflow]) => subflow['definition'] !== undefined)
  return [
    { definition: twin ?? main, ...file.patch === undefined ? {} : { patch: file.patch } },
    ...others.map((definition) => ({ definition })),
    ...subflows.map(([id, subflow]) => {
      assertKnown(subflow, ['definition', 'patch'], `the sub-flow ${id}`)
      return subflow as unknown as WantedDefinition
    }),
  ]
}

/** Where a definition is read from and put. */
interface Place {
  readonly root: string
  readonly folder: string
  readonly index: number
}

async function prepare({ definition, patch = [] }: WantedDefinition, { root, folder, index }: Place): Promise<{ readonly given: DefinitionText; readonly document: Fields | undefined }> {
  if (typeof definition !== 'string') {
    const document = applyPatch(definition, patch) as Fields
    return { given: { uri: join(root, `inline-${index}.sw.json`), text: JSON.stringify(document, null, 2) }, document }
  }
  const text = await readFile(join(folder, definition), 'utf8')
  const extension = extname(definition)
  const path = join(root, `${basename(definition, extension)}.sw`)
  const document = parseText(text, extension)
  if (patch.length === 0 || document === undefined) return { given: { uri: `${path}${extension}`, text }, document }
  const patched = applyPatch(document, patch) as Fields
  return { given: { uri: `${path}.json`, text: JSON.stringify(patched, null, 2) }, document: patched }
}

function parseText(text: string, extension: string): Fields | undefined {
  try {
    return (extension === '.json' ? JSON.parse(text) : parse(text)) as Fields
  } catch {
    // The case says that it does not parse; the product gets the text as it is.
    return undefined
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
