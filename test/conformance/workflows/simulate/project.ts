import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { parse } from 'yaml'
import { assertKnown, type Fields, type LoadedCase } from '../case-file.ts'
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
export async function createProject({ file, folder }: LoadedCase, twin?: string): Promise<Project> {
  const root = await mkdtemp(join(tmpdir(), 'conformance-'))
  const remote = new Map<string, string>()
  const documents: Fields[] = []
  for (const [uri, resource] of Object.entries(file.resources ?? {})) {
    const text = typeof resource === 'string' ? await readFile(join(folder, resource), 'utf8') : JSON.stringify(resource)
    documents.push(parse(text) as Fields)
    if (/^https?:/.test(uri)) remote.set(uri, text)
    else await write(join(root, uri.replace(/^file:(?:\/\/)?|^classpath:\/*/, '')), text)
  }
  const [main, ...others] = file.definitions
  const subject = await definitionText(root, folder, twin ?? main ?? {}, file.patch)
  const definitions = [subject.given]
  for (const [index, other] of others.entries()) {
    const { given, document } = await definitionText(root, folder, other, undefined, index + 1)
    definitions.push(given)
    if (document !== undefined) documents.push(document)
  }
  for (const [id, subflow] of Object.entries(file.subflows ?? {})) {
    if (subflow['definition'] === undefined) continue
    assertKnown(subflow, ['definition', 'patch'], `the sub-flow ${id}`)
    const { given, document } = await definitionText(root, folder, subflow['definition'] as string | Fields, subflow['patch'] as readonly Fields[] | undefined, definitions.length)
    definitions.push(given)
    if (document !== undefined) documents.push(document)
  }
  return {
    root,
    definitions,
    document: subject.document,
    documents: [...subject.document === undefined ? [] : [subject.document], ...documents],
    readResource: (uri) => {
      const text = remote.get(uri)
      return text === undefined ? Promise.reject(new Error(`the case has no resource ${uri}`)) : Promise.resolve(text)
    },
    close: () => rm(root, { recursive: true, force: true }),
  }
}

async function definitionText(
  root: string, folder: string, definition: string | Fields, patch: readonly Fields[] | undefined, index = 0,
): Promise<{ readonly given: DefinitionText; readonly document: Fields | undefined }> {
  if (typeof definition !== 'string') {
    const document = (patch === undefined ? definition : applyPatch(definition, patch)) as Fields
    return { given: { uri: join(root, `inline-${index}.sw.json`), text: JSON.stringify(document, null, 2) }, document }
  }
  const text = await readFile(join(folder, definition), 'utf8')
  const kind = extname(definition) === '.json' ? 'json' : 'yaml'
  const name = `${basename(definition, extname(definition))}.sw`
  let document: unknown
  try {
    document = kind === 'json' ? JSON.parse(text) as unknown : parse(text)
  } catch {
    // The case says that it does not parse; the product gets the text as it is.
  }
  if (patch === undefined || document === undefined) return { given: { uri: join(root, `${name}.${kind}`), text }, document: document as Fields | undefined }
  const patched = applyPatch(document, patch) as Fields
  return { given: { uri: join(root, `${name}.json`), text: JSON.stringify(patched, null, 2) }, document: patched }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
