import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chain, chainInput } from './definitions.ts'
import { cpuOf, spread } from './measure.ts'

/** How one contender starts: from the start of its process to its first answer. */
export interface ColdStart {
  readonly contender: string
  readonly milliseconds: ReturnType<typeof spread>
  /** CPU time of the process until then. */
  readonly cpuMilliseconds: ReturnType<typeof spread>
  /** Of the times to the first answer, against bare Koa, round by round. */
  readonly ratio: number
}

interface Contender {
  readonly name: string
  readonly args: readonly string[]
}

interface Sample {
  readonly milliseconds: number
  readonly cpu: number
}

const PROGRAM = fileURLToPath(new URL('../../dist/lib/cli/main.js', import.meta.url))
const KOA = `import Koa from 'koa'
const app = new Koa()
app.use((ctx) => { ctx.status = 201; ctx.body = {} })
const server = app.listen(0, '127.0.0.1', () => { console.log('http://127.0.0.1:' + server.address().port) })
`

/** Measures W6: the published program with so many definitions, against Node.js with bare Koa. */
export async function coldStart(rounds: number, counts: readonly number[] = [1, 50, 200]): Promise<readonly ColdStart[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cold-'))
  // Beside the packages of the repository, so that it finds Koa.
  const script = fileURLToPath(new URL('../../node_modules/.cache/bench-koa.mjs', import.meta.url))
  try {
    await mkdir(fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url)), { recursive: true })
    await writeFile(script, KOA)
    const contenders: Contender[] = [{ name: 'floor', args: [script] }]
    for (const count of counts) contenders.push({ name: `sonatina, ${String(count)} definitions`, args: [PROGRAM, 'serve', await writeProject(folder, count), '--port', '0'] })
    const samples = contenders.map((): Sample[] => [])
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, contender] of contenders.entries()) samples[index]?.push(await startOnce(contender))
    }
    return contenders.map(({ name }, index) => {
      const own = samples[index] ?? []
      return {
        contender: name,
        milliseconds: spread(own.map(({ milliseconds }) => milliseconds)),
        cpuMilliseconds: spread(own.map(({ cpu }) => cpu)),
        ratio: spread(own.map(({ milliseconds }, round) => milliseconds / (samples[0]?.[round]?.milliseconds ?? NaN))).median,
      }
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
    await rm(script, { force: true })
  }
}

async function writeProject(folder: string, count: number): Promise<string> {
  const project = join(folder, String(count))
  await mkdir(join(project, 'workflows'), { recursive: true })
  for (let index = 0; index < count; index += 1) {
    const id = index === 0 ? 'chain' : `chain${String(index)}`
    await writeFile(join(project, 'workflows', `${id}.sw.json`), JSON.stringify({ ...chain, id }))
  }
  return project
}

async function startOnce({ args }: Contender): Promise<Sample> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let output = ''
      child.once('exit', (code) => { reject(new Error(`${args.join(' ')} ended with ${String(code)}: ${output}`)) })
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8')
        const found = /http:\/\/[\d.]+:\d+/.exec(output)
        if (found !== null) resolve(found[0])
      })
    })
    const answer = await fetch(`${url}/chain`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(chainInput) })
    const milliseconds = performance.now() - began
    if (answer.status !== 201) throw new Error(`${args.join(' ')} answered ${String(answer.status)}`)
    await answer.arrayBuffer()
    return { milliseconds, cpu: cpuOf(child.pid ?? 0) / 1000 }
  } finally {
    child.removeAllListeners('exit')
    child.kill('SIGKILL')
  }
}
