import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { send } from '../unit/server/setup.ts'
import { startProgram } from './program.ts'

/** A project of somebody who has never seen the repository. */
const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "my-project", "private": true, "type": "module" }',
  'workflows/greet.sw.yaml': `id: greet
version: '1.0'
specVersion: '0.8'
start: Greet
functions:
  - name: greet
    type: custom
    operation: service:Greeter::greet
  - name: ask
    type: rest
    operation: specs/ask.yml#ask
states:
  - name: Greet
    type: operation
    actions:
      - functionRef:
          refName: greet
          arguments: { name: '\${ .name }' }
    end: true
`,
  'workflows/plain.sw.json': '{"id":"plain","version":"1.0","specVersion":"0.8","start":"A","states":[{"name":"A","type":"inject","data":{"a":1},"end":true}]}',
  'workflows/greeter.js': 'export class Greeter {\n  greet({ name }) {\n    return { greeting: `Hello ${name}` }\n  }\n}\n',
  'specs/ask.yml': "openapi: 3.0.3\ninfo: { title: Ask, version: '1' }\nservers: [{ url: 'http://127.0.0.1:1' }]\npaths:\n  /ask:\n    get:\n      operationId: ask\n      responses: { '200': { description: asked } }\n",
  'program.ts': `import { createRuntime, defineFunction, json, serve, silentLogger, type CloudEventRecord, type InstanceRecord, type Runtime, type RuntimeOptions } from 'sonatina'

const options: RuntimeOptions = { log: silentLogger, settings: { 'sonatina.store': 'memory' }, definitions: ['workflows/plain.sw.json'] }
const runtime: Runtime = await createRuntime(options)
const record: InstanceRecord = await runtime.host.start({ workflowId: 'plain', input: { name: 'John' } })
// @ts-expect-error The types are those of the package, not any.
const wrong: number = record.status
export const double = defineFunction({ name: 'double', input: json({ type: 'integer' }), output: json({ type: 'integer' }) }, (n) => n * 2)
export const service = serve({ double })
export const event: CloudEventRecord = { specversion: '1.0', id: '1', source: '/here', type: 'made', extra: 1 }
console.log(JSON.stringify([record.status, record.data, typeof wrong]))
await runtime.close()
`,
  'tsconfig.nodenext.json': JSON.stringify({ compilerOptions: { module: 'NodeNext', moduleResolution: 'NodeNext', target: 'ES2023', lib: ['ES2023'], strict: true, skipLibCheck: false, types: ['node'], outDir: 'out' }, files: ['program.ts'] }),
  'tsconfig.node16.json': JSON.stringify({ extends: './tsconfig.nodenext.json', compilerOptions: { module: 'Node16', moduleResolution: 'Node16', noEmit: true } }),
  'tsconfig.bundler.json': JSON.stringify({ extends: './tsconfig.nodenext.json', compilerOptions: { module: 'ESNext', moduleResolution: 'Bundler', noEmit: true } }),
}

/** Installs a package into an empty project and uses it as its reader would; gives what is wrong. */
export async function checkInstalled(tarball: string, project: string): Promise<string[]> {
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(project, path)), { recursive: true })
    await writeFile(join(project, path), text)
  }
  const run = (command: string, ...args: string[]): { readonly status: number | null; readonly stdout: string; readonly text: string } => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: project, encoding: 'utf8' })
    return { status, stdout, text: `${stdout}${stderr}` }
  }
  const install = run('npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=dev', tarball)
  if (install.status !== 0) return [`npm install came to ${String(install.status)}: ${install.text}`]
  return [
    ...commandFaults(run, await versionOf(project)),
    ...typeFaults(run),
    ...programFaults(run),
    ...await serviceFaults(project, 'serve'),
    ...await serviceFaults(project, 'dev'),
  ]
}

type Run = (command: string, ...args: string[]) => { readonly status: number | null; readonly stdout: string; readonly text: string }

async function versionOf(project: string): Promise<string> {
  return (JSON.parse(await readFile(join(project, 'node_modules/sonatina/package.json'), 'utf8')) as { version: string }).version
}

function commandFaults(run: Run, version: string): string[] {
  const faults: string[] = []
  const told = run('npx', 'sonatina', '--version').stdout.trim()
  if (told !== version) faults.push(`sonatina --version tells ${told}`)
  const help = run('npx', 'sonatina', '--help')
  if (help.status !== 0 || !help.stdout.includes('serve')) faults.push(`sonatina --help: ${help.text}`)
  // Every command loads: its module is part of the package.
  for (const name of [...help.stdout.matchAll(/^ {2}(\w+) {2,}/gm)].map((match) => match[1] ?? '')) {
    const { status, text } = run('npx', 'sonatina', name, '--help')
    if (status !== 0) faults.push(`sonatina ${name} --help came to ${String(status)}: ${text}`)
  }
  const valid = run('npx', 'sonatina', 'validate', 'workflows')
  if (valid.status !== 0) faults.push(`sonatina validate: ${valid.text}`)
  const diagram = run('npx', 'sonatina', 'diagram', 'workflows/greet.sw.yaml')
  if (diagram.status !== 0) faults.push(`sonatina diagram: ${diagram.text}`)
  const manifest = run('npx', 'sonatina', 'manifest', '--image', 'sonatina:0.1.0')
  if (manifest.status !== 0 || !manifest.stdout.includes('workflows__greeter.js')) faults.push(`sonatina manifest: ${manifest.text}`)
  return faults
}

/** The compiler of the repository, with the types of the installed package only. */
function typeFaults(run: Run): string[] {
  return ['nodenext', 'node16', 'bundler'].flatMap((way) => {
    const { status, text } = run(process.execPath, resolve('node_modules/typescript/bin/tsc'), '-p', `tsconfig.${way}.json`, '--typeRoots', resolve('node_modules/@types'))
    return status === 0 ? [] : [`types, resolved as ${way}: ${text}`]
  })
}

function programFaults(run: Run): string[] {
  const { text } = run(process.execPath, 'out/program.js')
  return text.trim() === '["completed",{"name":"John","a":1},"string"]' ? [] : [`a program of its own: ${text}`]
}

async function serviceFaults(project: string, command: 'serve' | 'dev'): Promise<string[]> {
  const faults: string[] = []
  const program = await startProgram([process.execPath, 'node_modules/sonatina/dist/lib/cli/main.js', command, '.', '--port', '0'], { cwd: project })
  try {
    const { status, json, text } = await send(program.port, 'POST', '/greet', { body: { name: 'John' } })
    const { workflowdata } = json as { workflowdata?: { greeting?: string } }
    if (status !== 201 || workflowdata?.greeting !== 'Hello John') faults.push(`${command}: POST /greet came to ${String(status)}: ${text}`)
    const pages = command === 'dev' ? ['/q/openapi', '/q/metrics', ...await linkedFrom(program.port, '/q/swagger-ui/'), ...await linkedFrom(program.port, '/inspect/')] : ['/q/openapi', '/q/health', '/q/metrics']
    for (const page of pages) {
      const answer = await send(program.port, 'GET', page)
      if (answer.status !== 200 || answer.text === '') faults.push(`${command}: GET ${page} came to ${String(answer.status)}`)
    }
    if (command === 'dev' && pages.length < 7) faults.push(`dev: the pages refer to ${pages.join(', ')} only`)
  } finally {
    const code = await program.stop()
    if (code !== 0) faults.push(`${command} stopped with ${String(code)}: ${program.output()}`)
  }
  return faults
}

/** Gives a page with the scripts and styles that it refers to. */
async function linkedFrom(port: number, page: string): Promise<string[]> {
  const first = await send(port, 'GET', page)
  const base = new URL(first.headers.location ?? page, 'http://127.0.0.1')
  const { text } = first.headers.location === undefined ? first : await send(port, 'GET', base.pathname)
  const linked = [...text.matchAll(/(?:src|href)="([^"#]+)"/g)].map((match) => new URL(match[1] ?? '', base)).filter(({ host }) => host === base.host)
  return [base.pathname, ...linked.map(({ pathname }) => pathname)]
}
