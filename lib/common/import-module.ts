import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { ConfigurationError } from '../errors/index.ts'

/**
 * Imports a module of a project, by its absolute path.
 *
 * A module in TypeScript is run by Node.js where it can, else by tsx where the project has it installed. What a CommonJS module
 * exports is given by its names, as that of an ES module is.
 *
 * @param shown how messages call it, e.g. `Host module "…"`
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` telling why it does not load
 */
export async function importModule(path: string, shown: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return exportsOf(await importWithHelp(path))
  } catch (cause) {
    const hint = isUnknownExtension(cause) ? '; to run TypeScript, install tsx beside it: npm install --save-dev tsx' : ''
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `${shown} cannot be loaded: ${reason}${hint}`, cause })
  }
}

// Node.js guesses the names of a CommonJS module from its text; where it cannot, all it gives is one default that holds them.
function exportsOf(namespace: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { default: all, 'module.exports': _same, ...named } = namespace
  if (typeof all === 'object' && all !== null && Object.getPrototypeOf(all) === Object.prototype) return { ...all, ...named }
  return all === undefined ? named : { ...named, default: all }
}

async function importWithHelp(path: string): Promise<Record<string, unknown>> {
  const { href } = pathToFileURL(path)
  try {
    return await import(href) as Record<string, unknown>
  } catch (error) {
    if (!isUnknownExtension(error) || !await registerTypeScript(path)) throw error
    // The query keeps Node.js from giving the failure again that it remembers.
    return await import(`${href}?typescript`) as Record<string, unknown>
  }
}

function isUnknownExtension(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION'
}

async function registerTypeScript(path: string): Promise<boolean> {
  let tsx: string
  try {
    tsx = createRequire(path).resolve('tsx')
  } catch {
    return false
  }
  await import(pathToFileURL(tsx).href)
  return true
}
