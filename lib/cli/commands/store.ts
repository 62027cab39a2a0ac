import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createSystemClock } from '../../common/index.ts'
import { createSettings } from '../../configuration/index.ts'
import { importStore, openStore, type StoreFile, type StoreLine } from '../../hosts/sqlite/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, readDirectory, readText, usageError } from '../usage.ts'

const HELP = `sonatina store COMMAND [options]

Looks after the store of waiting instances; no service may have it open.

  info                what it holds
  export FILE         writes all of it as lines of JSON        ("-": standard output)
  import FILE         makes a new store of such lines          ("-": standard input)
  vacuum              gives the space of removed rows back
  verify              checks the file and its rows

  --file FILE         the store                                (sonatina.store.sqlite.file)
  --root DIRECTORY    project with settings                    (the working directory)
  --profile NAME      configuration profile
  --json              prints JSON                              (info)
  --help              this text

Exit code 0: done; 1: it failed, or something is wrong with the store; 2: called wrongly.`

/**
 * Runs `sonatina store`.
 *
 * @throws {@link HostError} `STORE_LOCKED`, `STORE_UNAVAILABLE`; {@link UsageError} for wrong arguments
 */
export async function storeCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    file: { type: 'string' },
    root: { type: 'string' },
    profile: { type: 'string' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  const [command, path] = positionals
  const file = await storeFile(values, io)
  const startedAt = createSystemClock().now()
  if (command === 'import') return importFrom(pathOf(path, command), { file, startedAt }, io)
  const run = command === undefined ? undefined : COMMANDS[command]
  if (run === undefined) throw usageError(`"store" has the commands info, export, import, vacuum and verify${command === undefined ? '' : `, not "${command}"`}`)
  const store = openStore(file, startedAt)
  try {
    return await run(store, io, { path, json: values['json'] === true })
  } finally {
    store.close()
  }
}

interface Given {
  readonly path: string | undefined
  readonly json: boolean
}

const COMMANDS: Readonly<Record<string, (store: StoreFile, io: CommandIo, given: Given) => Promise<number> | number>> = {
  info(store, io, { json }) {
    const summary = store.summary()
    if (json) {
      io.out(JSON.stringify(summary, null, 2))
      return 0
    }
    const { file, bytes, schemaVersion, instances, timers, outgoing, definitions } = summary
    io.out(`${file}: ${String(bytes)} bytes, schema version ${String(schemaVersion)}`)
    for (const [status, number] of Object.entries(instances)) io.out(`instances ${status}: ${String(number)}`)
    io.out(`timers: ${String(timers)}, events to be sent: ${String(outgoing)}, definitions: ${String(definitions)}`)
    return 0
  },
  async export(store, io, { path }) {
    const lines = [...store.lines()].map((line) => JSON.stringify(line))
    const target = pathOf(path, 'export')
    if (target === '-') lines.forEach((line) => { io.out(line) })
    else {
      await writeFile(resolve(io.cwd, target), lines.map((line) => `${line}\n`).join('')).catch((error: unknown) => {
        throw usageError(`${target} cannot be written: ${(error as Error).message}`)
      })
      io.out(`${String(lines.length)} rows written to ${target}`)
    }
    return 0
  },
  vacuum(store, io) {
    const { before, after } = store.vacuum()
    io.out(`${String(before)} bytes before, ${String(after)} after`)
    return 0
  },
  verify(store, io) {
    const faults = store.verify()
    for (const fault of faults) io.err(fault)
    io.out(faults.length === 0 ? 'the store is sound' : `${String(faults.length)} faults`)
    return faults.length === 0 ? 0 : 1
  },
}

async function importFrom(path: string, { file, startedAt }: { readonly file: string; readonly startedAt: number }, io: CommandIo): Promise<number> {
  const rows = importStore(file, parseLines(await readText(path, io)), startedAt)
  io.out(`${String(rows)} rows taken in from ${path}`)
  return 0
}

function parseLines(text: string): StoreLine[] {
  return text.split('\n').filter((line) => line !== '').map((line, index) => {
    try {
      return JSON.parse(line) as StoreLine
    } catch {
      throw usageError(`Line ${String(index + 1)} is no JSON; take a file that "sonatina store export" wrote`)
    }
  })
}

function pathOf(path: string | undefined, command: string): string {
  if (path === undefined) throw usageError(`"store ${command}" needs a file, or "-"`)
  return path
}

async function storeFile(values: Readonly<Record<string, unknown>>, io: CommandIo): Promise<string> {
  if (typeof values['file'] === 'string') return resolve(io.cwd, values['file'])
  const root = await readDirectory(values['root'], io.cwd)
  const settings = await createSettings({ root, ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}) })
  return resolve(root, settings.text('sonatina.store.sqlite.file', '.sonatina/sonatina.db'))
}
