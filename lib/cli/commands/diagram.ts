import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createSystemClock } from '../../common/index.ts'
import { loadDefinition } from '../../definition/index.ts'
import { ConfigurationError, SonatinaError } from '../../errors/index.ts'
import { drawOnce, type DrawOptions } from '../../inspector/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, readDirectory, usageError } from '../usage.ts'
import { wordViolations } from '../violations.ts'

const HELP = `sonatina diagram FILE [options]

Draws a workflow definition: states, branches, actions, conditions, errors.

  --format NAME       svg, mermaid, dot or json                (svg)
  --machine           the XState machine in place of the definition
  --direction NAME    down or right                            (down)
  --theme NAME        light, dark or auto                      (auto)
  -o, --output FILE   writes the diagram to a file             (standard output)
  --root DIRECTORY    project that external references are looked up in
  --help              this text

SVG needs the optional package elkjs; the other formats need none.
Exit code 0: drawn; 1: the definition is broken; 2: called wrongly, or elkjs is not installed.`

const FORMATS = ['svg', 'mermaid', 'dot', 'json'] as const
const DIRECTIONS = ['down', 'right'] as const
const THEMES = ['light', 'dark', 'auto'] as const

/** Runs `sonatina diagram`. */
export async function diagramCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    format: { type: 'string' },
    machine: { type: 'boolean' },
    direction: { type: 'string' },
    theme: { type: 'string' },
    output: { type: 'string', short: 'o' },
    root: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw usageError(file === undefined ? 'no file is named' : 'one file is drawn at a time')
  const options: DrawOptions = {
    format: choose('format', values['format'], FORMATS),
    direction: choose('direction', values['direction'], DIRECTIONS),
    theme: choose('theme', values['theme'] ?? 'auto', THEMES),
    machine: values['machine'] === true,
  }
  const output = values['output']
  try {
    const path = resolve(io.cwd, file)
    const root = await readDirectory(values['root'], io.cwd)
    const { definition } = await loadDefinition(path, { profile: 'sonataflow', root })
    const text = await drawOnce(definition, createSystemClock(), options)
    if (typeof output === 'string') await save(resolve(io.cwd, output), text)
    else io.out(text.replace(/\n$/u, ''))
    return 0
  } catch (error) {
    return told(error, file, io)
  }
}

function choose<Choice extends string>(name: string, value: unknown, choices: readonly [Choice, ...Choice[]]): Choice {
  if (value === undefined) return choices[0]
  const chosen = choices.find((choice) => choice === value)
  if (chosen === undefined) throw usageError(`--${name} is one of ${choices.join(', ')}, not ${JSON.stringify(value)}`)
  return chosen
}

async function save(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (error) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `The diagram cannot be written to ${path}: ${(error as Error).message}`, cause: error })
  }
}

function told(error: unknown, file: string, io: CommandIo): number {
  if (!SonatinaError.is(error)) throw error
  if (error.code === 'NOT_AVAILABLE') {
    io.err(error.message)
    return 'package' in error.details ? 2 : 1
  }
  const violations = error.details['violations']
  io.err(Array.isArray(violations) ? wordViolations(file, { message: error.message, violations }) : error.message)
  return 1
}
