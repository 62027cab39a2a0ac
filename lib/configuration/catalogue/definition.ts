/** How the text of a setting is read. */
export type SettingType = 'text' | 'boolean' | 'integer' | 'number' | 'duration' | 'size' | 'list' | 'choice'

/** What a default may depend on. */
export interface DefaultContext {
  readonly profile: string
  readonly languageProfile: 'spec' | 'sonataflow'
  /** Reads another setting. */
  readonly read: (key: string) => string | undefined
  /** Reads an environment variable by its own name. */
  readonly variable: (name: string) => string | undefined
}

/** One setting, or a family of settings: `<file>`, `<scheme>` and other names in angle brackets stand for any name. */
export interface SettingDefinition {
  readonly key: string
  /** Other spellings, with the same names in angle brackets. */
  readonly aliases: readonly string[]
  readonly type: SettingType
  /** Unit of a bare number, for durations. */
  readonly unit?: 'ms' | 's'
  readonly values?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly default?: string | ((context: DefaultContext) => string | undefined)
  /** How the documentation words the default, when it is computed or absent. */
  readonly defaultText?: string
  readonly secret: boolean
  readonly description: string
  /** Accepted so that projects of others work, and otherwise ignored. */
  readonly ignored?: true
}

/** A heading of the documentation with its settings. */
export interface SettingSection {
  readonly title: string
  readonly settings: readonly SettingDefinition[]
}

/** What a row of the tables says beside key, type and description. */
export interface RowOptions {
  readonly aliases?: readonly string[]
  readonly unit?: 'ms' | 's'
  readonly values?: readonly string[]
  readonly min?: number
  readonly max?: number
  readonly default?: string | ((context: DefaultContext) => string | undefined)
  readonly defaultText?: string
  readonly ignored?: true
}

const SECRET_END = /(?:secret|secret\.value|password|token|api-key|api_key|access_token|\.key)$/

/** Tells whether a key holds a secret by its name (configuration.md §8). */
export function isSecretKey(key: string): boolean {
  return SECRET_END.test(key.replaceAll('"', ''))
}

/** Makes one row of a table. */
export function setting(key: string, type: SettingType, description: string, options: RowOptions = {}): SettingDefinition {
  return { ...options, key, type, description, aliases: options.aliases ?? [], secret: isSecretKey(key) }
}

/** Puts rows of attributes below a prefix and below each prefix that is an alias of it. */
export function below(
  prefix: string,
  aliasPrefixes: readonly string[],
  rows: readonly SettingDefinition[],
): SettingDefinition[] {
  return rows.map((row) => {
    const names = [row.key, ...row.aliases]
    return {
      ...row,
      key: `${prefix}${row.key}`,
      aliases: [
        ...row.aliases.map((name) => `${prefix}${name}`),
        ...aliasPrefixes.flatMap((alias) => names.map((name) => `${alias}${name}`)),
      ],
      secret: isSecretKey(`${prefix}${row.key}`),
    }
  })
}
