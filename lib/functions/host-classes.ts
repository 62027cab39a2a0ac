import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { importModule } from '../common/index.ts'
import { ConfigurationError } from '../errors/index.ts'

const MODULE = /^[^.].*(?<!\.d)(?<!\.test)\.(?:ts|mts|js|mjs)$/

/**
 * Finds the modules that stand beside definitions: every `.ts` and `.js` file of the directories, not of those below them; hidden
 * files, tests and declarations are no host modules. A directory that does not exist has none.
 *
 * @returns absolute paths, sorted
 */
export async function findHostModules(directories: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  for (const directory of directories) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
    // Files of a mounted ConfigMap are links.
    for (const entry of entries) if (!entry.isDirectory() && MODULE.test(entry.name)) found.add(resolve(directory, entry.name))
  }
  return [...found].sort()
}

/**
 * Loads the host classes of modules: every exported class, as an instance made without arguments, and every exported object, by the
 * name it is exported under; `default` by its class name. modules in TypeScript see `importModule`.
 *
 * @param paths absolute paths of modules, in the order in which later ones win
 * @throws {@link ConfigurationError} `CONFIGURATION_INVALID` naming the module that does not load, or whose class cannot be made
 */
export async function loadHostClasses(paths: readonly string[]): Promise<Map<string, object>> {
  const classes = new Map<string, object>()
  for (const path of paths) {
    const exported = await importModule(path, `Host module "${path}"`)
    for (const [name, value] of Object.entries(exported)) {
      const instance = toInstance(value, name, path)
      if (instance !== undefined) classes.set(name === 'default' ? nameOf(value, name) : name, instance)
    }
  }
  return classes
}

function toInstance(value: unknown, name: string, path: string): object | undefined {
  if (typeof value === 'object' && value !== null) return value
  if (!isClass(value)) return undefined
  try {
    return new value()
  } catch (cause) {
    throw invalid(path, `exports the class "${name}", which cannot be made without arguments: ${messageOf(cause)}`, cause)
  }
}

/** A function is a class only when it says so: constructors of the old kind cannot be told from plain functions. */
function isClass(value: unknown): value is new () => object {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}

function nameOf(value: unknown, fallback: string): string {
  const named = typeof value === 'function' ? value.name : (value as object).constructor.name
  return named === '' ? fallback : named
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

function invalid(path: string, problem: string, cause: unknown): ConfigurationError {
  return new ConfigurationError({ code: 'CONFIGURATION_INVALID', message: `Host module "${path}" ${problem}`, cause })
}
