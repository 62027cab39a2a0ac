import { inspectSettings, type SettingReport, type Settings, type SettingsOptions } from '../../configuration/index.ts'
import type { CommandIo } from '../io.ts'
import { parseArguments, readDirectory, usageError } from '../usage.ts'

const HELP = `sonatina config [options]

Prints every effective setting with its value, where it was found and what it overrides; secrets as ***.

  --explain KEY      tells where one key was looked for
  --json             prints JSON
  --root DIRECTORY   project with settings                (the working directory)
  --profile NAME     configuration profile
  --set KEY=VALUE    a setting; also -DKEY=VALUE; repeatable
  --strict-config    warnings count as errors
  --help             this text

Exit code 0: the settings can be used; 1: they cannot (they are printed all the same); 2: called wrongly.`

/** Runs `sonatina config`. */
export function configCommand(args: readonly string[], io: CommandIo): Promise<number> {
  return printConfig(args, io)
}

/** Prints the settings; `environment` is handed in by tests. @throws {@link RequestError} for wrong arguments. */
export async function printConfig(args: readonly string[], io: CommandIo, environment?: SettingsOptions['environment']): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    explain: { type: 'string' },
    json: { type: 'boolean' },
    root: { type: 'string' },
    profile: { type: 'string' },
    set: { type: 'string', multiple: true },
    'strict-config': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  })
  if (values['help'] === true) {
    io.out(HELP)
    return 0
  }
  if (positionals.length > 0) throw usageError(`"${positionals.join(' ')}" is not understood; a project is named by --root DIRECTORY`)
  const { settings, errors } = await inspectSettings({
    root: await readDirectory(values['root'], io.cwd),
    workingDirectory: io.cwd,
    arguments: (values['set'] ?? []) as readonly string[],
    strict: values['strict-config'] === true,
    ...(typeof values['profile'] === 'string' ? { profile: values['profile'] } : {}),
    ...(environment ? { environment } : {}),
  })
  if (typeof values['explain'] === 'string') settings.explain(values['explain']).forEach((text) => { io.out(text) })
  else if (values['json'] === true) io.out(JSON.stringify(settings.describe(), null, 2))
  else printAll(settings, io)
  for (const { level, message } of settings.warnings) io.err(`${level}: ${message}`)
  for (const error of errors) io.err(`error: ${error}`)
  return errors.length > 0 ? 1 : 0
}

function printAll(settings: Settings, io: CommandIo): void {
  io.out(`# configuration profile ${settings.profiles.join(',')}, language profile ${settings.languageProfile}`)
  for (const report of settings.describe()) {
    io.out(`${report.key}=${report.value}  # ${place(report)}${spelt(report)}`)
    for (const other of report.overridden) io.out(`  overrides ${other.spelling}=${other.value}  # ${place(other)}`)
  }
}

function spelt(report: SettingReport): string {
  return report.spelling === report.key ? '' : ` as ${report.spelling}`
}

function place({ source, line }: { readonly source: string; readonly line?: number }): string {
  return line === undefined ? source : `${source}:${String(line)}`
}
