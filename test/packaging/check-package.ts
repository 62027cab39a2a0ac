import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { checkPackage as checkTypes, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Names at the top of a published package. */
const EXPECTED = new Set(['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE', 'dist', 'docs'])

/** Checks a package that `npm pack` made: its files, its entries, and its types for every way of resolving them. */
export async function checkPackage(tarball: string): Promise<string[]> {
  return [...checkContents(tarball), ...await lint(tarball), ...await types(tarball)]
}

function checkContents(tarball: string): string[] {
  const { stdout } = spawnSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
  const files = stdout.split('\n').filter((line) => line !== '').map((line) => line.replace(/^package\//, ''))
  const strangers = files.filter((file) => !EXPECTED.has(file.split('/')[0] ?? '') || /(?:\.test\.|\.map$|\.tsbuildinfo$|(?:^|\/)\.env)/.test(file))
  const needed = ['dist/lib/index.js', 'dist/lib/index.d.ts', 'dist/lib/cli/main.js', 'LICENSE', 'NOTICE', 'README.md'].filter((file) => !files.includes(file))
  return [...strangers.map((file) => `${file} does not belong into the package`), ...needed.map((file) => `${file} is missing`)]
}

async function lint(tarball: string): Promise<string[]> {
  const bytes = await readFile(tarball)
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) }, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg, { color: false }) ?? message.code}`)
}

async function types(tarball: string): Promise<string[]> {
  const result = await checkTypes(createPackageFromTarballData(await readFile(tarball)))
  if (result.types === false) return ['attw: the package has no types']
  // The package is ESM, which CommonJS of Node.js 20.19 and later requires as it is; `node10` knows no `exports`, and finds `main`.
  return result.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM').map((problem) => `attw: ${JSON.stringify(problem)}`)
}
