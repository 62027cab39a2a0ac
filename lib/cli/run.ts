import { SonatinaError } from '../errors/index.ts'
import { COMMANDS, type CommandEntry } from './commands.ts'
import type { CommandIo } from './io.ts'
import { UsageError, nearest } from './usage.ts'

/** What the command line is made of. */
export interface CommandLineOptions {
  /** Told by `--version`. */
  readonly version: string
  /** @default all commands of the product */
  readonly commands?: readonly CommandEntry[]
}

/**
 * Runs the command line without its program: `args` begins with the name of the command.
 *
 * An error that the product throws on purpose is told as one clear text; anything else is a defect and is told with its stack.
 *
 * @returns the exit code: 0 done, 1 failed, 2 called wrongly
 */
export async function runCommandLine(args: readonly string[], io: CommandIo, options: CommandLineOptions): Promise<number> {
  const commands = options.commands ?? COMMANDS
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    io.out(help(commands))
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v') {
    io.out(options.version)
    return 0
  }
  const entry = commands.find((each) => each.name === name)
  if (entry !== undefined) return runCommand(entry, rest, io)
  const near = nearest(name, commands.map((each) => each.name))
  io.err(`There is no command "${name}".${near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`}`)
  io.err(help(commands))
  return 2
}

async function runCommand({ name, load }: CommandEntry, args: readonly string[], io: CommandIo): Promise<number> {
  try {
    const command = await load()
    return await command(args, io)
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`sonatina ${name}: ${error.message}`)
      io.err(`sonatina ${name} --help tells how it is called.`)
      return 2
    }
    io.err(describe(error))
    return 1
  }
}

function help(commands: readonly CommandEntry[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  return [
    'sonatina <command> [arguments]',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'sonatina <command> --help tells more of one; sonatina --version tells the version.',
  ].join('\n')
}

/** Words an error for the terminal. */
function describe(error: unknown): string {
  if (SonatinaError.is(error)) return `${error.code}: ${error.message}`
  return error instanceof Error ? `This is a defect of sonatina:\n${error.stack ?? error.message}` : String(error)
}
