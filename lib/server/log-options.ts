import type { LogLevel, LoggingOptions } from '../common/index.ts'
import type { Settings } from '../configuration/index.ts'

/** Categories under the names of what SonataFlow's users know them by. */
const ALIASES: Readonly<Record<string, string>> = { 'org.apache.http': 'http-client' }

const LEVELS: Readonly<Record<string, LogLevel>> = {
  ALL: 'trace', TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', WARNING: 'warn', ERROR: 'error', OFF: 'silent',
}

/** Reads form and levels of the log from the settings `sonatina.log.*` (configuration.md §6). */
export function resolveLogOptions(settings: Settings): Required<Pick<LoggingOptions, 'level' | 'categories' | 'json'>> {
  const categories: Record<string, LogLevel> = {}
  for (const name of settings.segments('sonatina.log.category')) {
    const level = settings.text(`sonatina.log.category."${name}".level`)
    if (level !== undefined) categories[ALIASES[name] ?? name] = toLevel(level)
  }
  return {
    level: toLevel(settings.text('sonatina.log.level', 'INFO')),
    categories,
    json: settings.boolean('sonatina.log.json', settings.profile === 'prod'),
  }
}

function toLevel(text: string): LogLevel {
  return LEVELS[text.toUpperCase()] ?? 'info'
}
