import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Secret, settingKey, type Settings } from '../configuration/index.ts'
import { ConfigurationError } from '../errors/index.ts'
import type { MaybePromise } from './authorization.ts'

/** Gives a secret by keyring and key; `undefined` when it does not know it. */
export type CredentialsProvider = (keyring: string | undefined, key: string) => MaybePromise<string | undefined>

/**
 * Asks a credentials provider: one that the host registered, else the directory of `sonatina.credentials-provider.<name>.directory`
 * with a file for each key. The file is read at each use, so a changed secret counts from the next token request on.
 *
 * @throws {@link ConfigurationError} naming provider and key.
 */
export async function askProvider(
  settings: Settings,
  providers: Readonly<Record<string, CredentialsProvider>>,
  wish: { readonly name: string; readonly keyring: string | undefined; readonly key: string },
): Promise<Secret> {
  const registered = Object.hasOwn(providers, wish.name) ? providers[wish.name] : undefined
  const value = registered ? await registered(wish.keyring, wish.key) : await readSecretFile(settings, wish)
  if (value !== undefined && value !== '') return new Secret(value)
  throw new ConfigurationError({ code: 'CONFIGURATION_MISSING', message: `The credentials provider "${wish.name}" has no value for "${wish.key}"` })
}

async function readSecretFile(settings: Settings, wish: { readonly name: string; readonly keyring: string | undefined; readonly key: string }): Promise<string | undefined> {
  const key = `${settingKey('sonatina.credentials-provider', wish.name)}.directory`
  const directory = settings.text(key)
  if (directory === undefined) {
    throw new ConfigurationError({
      code: 'CONFIGURATION_MISSING',
      message: `The credentials provider "${wish.name}" is neither registered nor configured.\n${settings.describeMissing([key])}`,
    })
  }
  const parts = wish.keyring === undefined ? [wish.key] : [wish.keyring, wish.key]
  if (parts.some((part) => part === '..' || /[/\\\0]/.test(part))) {
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `The credentials provider "${wish.name}" takes plain names; "${wish.key}" is a path` })
  }
  try {
    return (await readFile(join(directory, ...parts), 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `The credentials provider "${wish.name}" cannot read "${wish.key}" (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})` })
  }
}
