import { spawnSync } from 'node:child_process'
import { cp, mkdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** One instruction of a Dockerfile. */
export interface Instruction {
  readonly name: string
  readonly text: string
}

/** A stage after its steps were taken. */
export interface Stage {
  /** Directory that stands for the root of its file system. */
  readonly root: string
  readonly environment: Readonly<Record<string, string>>
  /** Absolute in the image. */
  readonly directory: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthCheck: readonly string[]
  /** Number of the user; 0 is root. */
  readonly user: number
}

/** Reads the instructions of a Dockerfile: lines continued by a backslash belong together, comments are left out. */
export function parseDockerfile(text: string): Instruction[] {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line)).join('\n').replace(/\\\n\s*/g, ' ').split('\n')
  return lines.flatMap((line) => {
    const match = /^\s*([A-Za-z]+)\s+(.*)$/.exec(line)
    return match === null ? [] : [{ name: (match[1] ?? '').toUpperCase(), text: (match[2] ?? '').trim() }]
  })
}

/** Reads the names that a `.dockerignore` lets through which first shuts everything out. */
export function contextNames(dockerignore: string): string[] {
  return dockerignore.split('\n').flatMap((line) => (line.startsWith('!') ? [line.slice(1).trim()] : []))
}

/**
 * Takes the steps of a Dockerfile without an engine: each stage in a directory of its own that stands for its root, with the programs
 * of this machine in the place of those of the base image. Commands must name paths relative to their directory.
 */
export async function buildStages(dockerfile: string, context: string, base: string): Promise<Stage> {
  const stages = new Map<string, Stage>()
  let current: Stage | undefined
  for (const instruction of parseDockerfile(dockerfile)) {
    if (instruction.name === 'ARG') continue
    if (instruction.name === 'FROM') {
      const name = / AS (\w+)$/i.exec(instruction.text)?.[1] ?? 'final'
      current = { root: join(base, name), environment: {}, directory: '/', entrypoint: [], command: [], healthCheck: [], user: 0 }
      await mkdir(current.root, { recursive: true, mode: 0o755 })
    } else {
      if (current === undefined) throw new Error(`${instruction.name} stands before FROM`)
      current = await takeStep(current, instruction, { stages, context })
    }
    stages.set(basename(current.root), current)
  }
  if (current === undefined) throw new Error('the Dockerfile has no stage')
  return current
}

interface Surroundings {
  readonly stages: ReadonlyMap<string, Stage>
  readonly context: string
}

async function takeStep(stage: Stage, { name, text }: Instruction, surroundings: Surroundings): Promise<Stage> {
  switch (name) {
    case 'WORKDIR': {
      const directory = text.startsWith('/') ? text : join(stage.directory, text)
      await mkdir(join(stage.root, directory), { recursive: true })
      return { ...stage, directory }
    }
    case 'ENV': return { ...stage, environment: { ...stage.environment, ...Object.fromEntries(text.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)])) } }
    case 'COPY':
      await copy(stage, text, surroundings)
      return stage
    case 'RUN':
      run(stage, text)
      return stage
    case 'USER': return { ...stage, user: Number(text.split(':')[0]) }
    case 'ENTRYPOINT': return { ...stage, entrypoint: JSON.parse(text) as string[] }
    case 'CMD': return { ...stage, command: JSON.parse(text) as string[] }
    case 'HEALTHCHECK': return { ...stage, healthCheck: JSON.parse(text.replace(/^.*?CMD\s+/, '')) as string[] }
    case 'LABEL': case 'EXPOSE': return stage
    default: throw new Error(`the instruction ${name} is not known here`)
  }
}

/** A directory gives its contents, a file goes into a directory that ends in a slash. */
async function copy(stage: Stage, text: string, { stages, context }: Surroundings): Promise<void> {
  const words = text.split(/\s+/)
  const from = words[0]?.startsWith('--from=') === true ? words.shift()?.slice('--from='.length) : undefined
  const source = from === undefined ? context : stages.get(from)?.root
  if (source === undefined) throw new Error(`COPY names a stage that is not there: ${from ?? ''}`)
  const target = join(stage.root, stage.directory, words.at(-1) ?? '.')
  for (const word of words.slice(0, -1)) {
    const path = join(source, word)
    const isDirectory = (await stat(path)).isDirectory()
    await cp(path, isDirectory ? target : join(target, basename(word)), { recursive: true, verbatimSymlinks: true })
  }
}

function run({ root, directory, environment }: Stage, command: string): void {
  process.stdout.write(`  RUN ${command}\n`)
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: join(root, directory), env: { ...process.env, ...environment }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`RUN ${command} came to ${String(status)}:\n${stdout}\n${stderr}`)
}

/** Copies what the build may see into a directory of its own. */
export async function copyContext(target: string): Promise<void> {
  for (const name of contextNames(await readFile('.dockerignore', 'utf8'))) await cp(name, join(target, name), { recursive: true })
}
