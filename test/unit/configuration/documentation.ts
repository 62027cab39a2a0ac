import { CATALOGUE, type SettingDefinition } from '../../../lib/configuration/index.ts'

/** Renders the tables of docs/configuration.md from the catalogue, section by section. */
export function renderTables(): ReadonlyMap<string, string> {
  return new Map(CATALOGUE.map(({ title, settings }) => {
    const rows = settings.map((setting) => `| ${[cellOfKey(setting), setting.description, typeOf(setting), defaultOf(setting)].map(escape).join(' | ')} |`)
    return [title, ['| Key | Meaning | Type | Default |', '|---|---|---|---|', ...rows].join('\n')]
  }))
}

function cellOfKey({ key, aliases, secret }: SettingDefinition): string {
  const others = aliases.length === 0 ? '' : ` (${aliases.map((alias) => `\`${alias}\``).join(', ')})`
  return `\`${key}\`${others}${secret ? ' 🔒' : ''}`
}

function typeOf({ type, unit, values, min, max }: SettingDefinition): string {
  if (type === 'choice') return (values ?? []).map((value) => `\`${value}\``).join(', ')
  if (type === 'duration') return `duration (${unit ?? 'ms'})`
  const range = min === undefined && max === undefined ? '' : ` ${String(min ?? '')}…${String(max ?? '')}`
  return `${type}${range}`
}

function defaultOf(setting: SettingDefinition): string {
  if (setting.ignored) return ''
  if (setting.defaultText !== undefined) return setting.defaultText
  return typeof setting.default === 'string' ? `\`${setting.default}\`` : '–'
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|')
}

