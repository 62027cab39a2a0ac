import type { Secret } from './secret.ts'

/** Where the effective value of a setting was found. */
export interface Origin {
  /** `options`, `command line`, `environment`, `.env`, a file, or `default`. */
  readonly source: string
  /** Line in that file, from 1. */
  readonly line?: number
  /** The key as it is spelt there. */
  readonly spelling: string
}

/** One effective setting, for `sonatina config`. */
export interface SettingReport extends Origin {
  readonly key: string
  /** `***` for a secret. */
  readonly value: string
  /** Values of lower sources that do not count. */
  readonly overridden: readonly (Origin & { readonly value: string })[]
}

/** A remark about the settings that does not stop the start. */
export interface SettingsWarning {
  readonly level: 'warn' | 'info'
  readonly message: string
}

/**
 * The settings of a process: read once, immutable, looked up by key in any spelling (configuration.md §1, §2).
 *
 * Each getter gives the configured value, else the default of docs/configuration.md, else the fallback of the caller. A value of
 * the wrong type ends as {@link ConfigurationError} `CONFIGURATION_INVALID`; those that can be found at start are reported there.
 */
export interface Settings {
  /** The configuration profile that counts most (`prod`, `dev`, `test`, …). */
  readonly profile: string
  /** All configuration profiles, the later one wins. */
  readonly profiles: readonly string[]
  /** Reading of the specification that definitions run in. */
  readonly languageProfile: 'spec' | 'sonataflow'
  readonly warnings: readonly SettingsWarning[]
  /** Gives a text. @throws {@link ConfigurationError} for a secret: ask `secret` for it. */
  text(key: string): string | undefined
  text(key: string, fallback: string): string
  /** Gives a value whose name says that it is a secret, or any other, wrapped. */
  secret(key: string): Secret | undefined
  boolean(key: string): boolean | undefined
  boolean(key: string, fallback: boolean): boolean
  number(key: string): number | undefined
  number(key: string, fallback: number): number
  /** Gives milliseconds. */
  duration(key: string): number | undefined
  duration(key: string, fallback: number): number
  /** Gives bytes. */
  size(key: string): number | undefined
  size(key: string, fallback: number): number
  list(key: string): readonly string[] | undefined
  list(key: string, fallback: readonly string[]): readonly string[]
  /** Tells whether some source sets the key (defaults do not count). */
  has(key: string): boolean
  /** Gives the names that stand below a prefix in files, options and command line, in canonical form for documents and schemes. */
  segments(prefix: string): readonly string[]
  origin(key: string): Origin | undefined
  /** Gives every effective setting, secrets as `***`, sorted by key. */
  describe(): readonly SettingReport[]
  /** Tells where a key was looked for, highest source first, one line each; secrets as `***`. */
  explain(key: string): readonly string[]
  /**
   * Words what is missing: each key with its environment form, where it was looked for, and a similar key that is set
   * (configuration.md §5 "Missing client").
   */
  describeMissing(keys: readonly string[]): string
  /** Gives the value of `$SECRET.<key>` when `sonatina.secrets.allow` permits the key (configuration.md §8). */
  expressionSecret(key: string): string | undefined
}
