import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import ts from 'typescript'
import { parseAllDocuments } from 'yaml'
import { SonatinaError } from '../../lib/errors/index.ts'
import { exportedDeclarations, sourceFiles } from './source-files.ts'

/** An example with where it stands. */
interface Example {
  readonly place: string
  /** What the fence says: `ts`, `ts no-run`, `sh`, `json`, … */
  readonly info: string
  readonly text: string
}

const DOCUMENTS = ['README.md', 'docs']
const SANDBOX = 'node_modules/.cache/examples'
const FENCE = /^```([^\n]*)\n([\s\S]*?)^```\s*$/gm

async function fencedExamples(): Promise<Example[]> {
  const found: Example[] = []
  for (const path of await markdownFiles()) {
    const text = await readFile(path, 'utf8')
    for (const match of text.matchAll(FENCE)) {
      const line = text.slice(0, match.index).split('\n').length
      found.push({ place: `${path}:${line}`, info: (match[1] ?? '').trim(), text: match[2] ?? '' })
    }
  }
  return found
}

async function markdownFiles(): Promise<string[]> {
  const found: string[] = []
  for (const name of DOCUMENTS) {
    const entries = name.endsWith('.md') ? [name] : (await readdir(name, { recursive: true })).map((entry) => join(name, entry))
    found.push(...entries.filter((entry) => entry.endsWith('.md')))
  }
  const exists = await Promise.all(found.map((path) => readFile(path).then(() => true, () => false)))
  return found.filter((_, index) => exists[index])
}

/** `value // => expected` becomes an assertion. */
function withAssertions(text: string): string {
  return text.split('\n').map((line) => {
    const match = /^(\s*)(.+?)\s*\/\/ => (.+)$/.exec(line)
    return match ? `${match[1] ?? ''}assertEqual(${match[2] ?? ''}, ${match[3] ?? ''})` : line
  }).join('\n')
}

/** Runs an example as a module of its own; `imports` stands before its text. */
async function runModule(name: string, imports: string, text: string): Promise<void> {
  await mkdir(SANDBOX, { recursive: true })
  const path = join(process.cwd(), SANDBOX, `${name}.mts`)
  const assertion = "import { deepStrictEqual as assertEqual } from 'node:assert/strict'\n"
  await writeFile(path, `${assertion}${imports}\n${withAssertions(text)}\n`)
  await import(pathToFileURL(path).href)
}

const PRODUCT = pathToFileURL('lib/index.ts').href

/** Lets an example say `from 'sonatina'`, as a user would. */
function resolveProduct(text: string): string {
  return text.replaceAll(/(from\s+|import\()(['"])sonatina\2/g, `$1$2${PRODUCT}$2`)
}

/** Import lines that give an example the exports of its file, of its module and of the product; the nearest wins. */
async function importsFor(path: string, code: string): Promise<string> {
  const doors = [path, path.replace(/^(lib\/[^/]+)\/.*/, '$1/index.ts'), 'lib/index.ts']
  const taken = new Set<string>(['default'])
  for (const [, names] of code.matchAll(/\bimport\s*\{([^}]*)\}/g)) for (const name of (names ?? '').split(',')) taken.add(name.trim())
  const lines: string[] = []
  for (const door of doors) {
    const module = await import(pathToFileURL(door).href).catch(() => ({})) as object
    const names = Object.keys(module).filter((name) => !taken.has(name))
    for (const name of names) taken.add(name)
    if (names.length > 0) lines.push(`import { ${names.join(', ')} } from '${pathToFileURL(door).href}'`)
  }
  return lines.join('\n')
}

function faultOfScript(text: string, scripts: ReadonlySet<string>, commands: ReadonlySet<string>): string | undefined {
  for (const line of text.split('\n')) {
    const script = /(?:^|[ $])npm run (?:-s |--silent )?([\w:-]+)/.exec(line)?.[1]
    if (script !== undefined && !scripts.has(script)) return `npm has no script "${script}"`
    const command = /(?:^|&& |\$ )(?:npx )?sonatina ([a-z][\w-]*)/.exec(line)?.[1]
    if (command !== undefined && !commands.has(command)) return `the command line has no command "${command}"`
  }
  return undefined
}

describe('house: examples', () => {
  after(() => rm(SANDBOX, { recursive: true, force: true }))

  it('in fenced ts and js blocks run', async () => {
    const failed: string[] = []
    for (const [index, { place, info, text }] of (await fencedExamples()).entries()) {
      if (!/^(?:ts|js|typescript|javascript)\b/.test(info)) continue
      const syntax = ts.transpileModule(text, { reportDiagnostics: true, compilerOptions: { module: ts.ModuleKind.ESNext } }).diagnostics ?? []
      for (const fault of syntax) failed.push(`${place}: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`)
      if (info.endsWith('no-run') || syntax.length > 0) continue
      await runModule(`fenced-${index}`, '', resolveProduct(text)).catch((error: unknown) => failed.push(`${place}: ${String(error)}`))
    }
    expect(failed).to.deep.equal([])
  })

  it('in json and yaml blocks parse', async () => {
    const failed: string[] = []
    for (const { place, info, text } of await fencedExamples()) {
      if (!/^(?:json|ya?ml)$/.test(info)) continue
      // YAML 1.2 holds JSON, comments allowed.
      for (const document of parseAllDocuments(text)) {
        if ('errors' in document) failed.push(...document.errors.map((error) => `${place}: ${error.message}`))
      }
    }
    expect(failed).to.deep.equal([])
  })

  it('in sh blocks name scripts and commands that exist', async () => {
    const manifest = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> }
    const list = await readFile('lib/cli/commands.ts', 'utf8')
    const commands = new Set([...[...list.matchAll(/\bname: '([\w-]+)'/g)].flatMap(([, name]) => name ?? []), 'help', 'version'])
    const failed: string[] = []
    for (const { place, info, text } of await fencedExamples()) {
      const fault = /^(?:sh|bash|console)\b/.test(info) ? faultOfScript(text, new Set(Object.keys(manifest.scripts)), commands) : undefined
      if (fault !== undefined) failed.push(`${place}: ${fault}`)
    }
    expect(failed).to.deep.equal([])
  })

  it('in @example tags run with the exports of their module at hand', async () => {
    const failed: string[] = []
    let index = 0
    for (const [path, file] of await sourceFiles('lib')) {
      for (const { line, examples } of exportedDeclarations(file)) {
        for (const text of examples) {
          const code = text.replace(/^```.*\n?/gm, '')
          await runModule(`tag-${index++}`, await importsFor(path, code), resolveProduct(code)).catch((error: unknown) => {
            // An example may show what is thrown.
            if (!(code.includes('throw new') && SonatinaError.is(error))) failed.push(`${path}:${line}: ${String(error)}`)
          })
        }
      }
    }
    expect(failed).to.deep.equal([])
  })
})
