import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CaseFile } from './case-file.ts'

/**
 * Finds the project directory of a case: `files/<project>` of its first definition, else the folder of that.
 *
 * Some projects of an origin share files: where documents of the class path or imports of a proto file are not there, the project of
 * the group that has them is the directory.
 */
export async function findRoot(file: CaseFile, folder: string): Promise<string> {
  const paths = file.definitions.filter((definition) => typeof definition === 'string')
  const [first] = paths
  if (first === undefined) return folder
  const own = join(folder, /^files\/[^/]+/.exec(first)?.[0] ?? dirname(first))
  const wanted = (await Promise.all(paths.map((path) => sharedNames(join(folder, path))))).flat()
  const projects = await readdir(join(folder, 'files')).catch(() => [])
  for (const root of [own, ...projects.sort().map((name) => join(folder, 'files', name))]) {
    const found = await Promise.all(wanted.map((name) => exists(join(root, name))))
    if (found.every(Boolean)) return root
  }
  return own
}

/** Names that a definition or its documents refer to by the class path or a search path, and that do not lie beside them. */
async function sharedNames(path: string): Promise<readonly string[]> {
  const text = await read(path)
  const classpath = matches(text, /classpath:\/*([\w./-]+)/g)
  const protos = matches(text, /([\w./-]+\.proto)#/g).map((name) => join(dirname(path), name))
  const imports = (await Promise.all(protos.map(read))).flatMap((proto) => matches(proto, /^import\s+"([^"]+)"/gm))
  const beside = await Promise.all(imports.map((name) => exists(join(dirname(path), name))))
  return [...classpath, ...imports.filter((name, index) => beside[index] === false && !name.startsWith('google/'))]
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

function exists(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false)
}
