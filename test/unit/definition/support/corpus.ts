import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Finds a folder of the test data of others; says so in one line when it is not there. */
export function corpusFolder(part: string): string | undefined {
  const folder = join(resolve(process.env['SONATINA_CORPUS'] ?? '../shared/corpus'), part)
  if (existsSync(folder)) return folder
  process.stderr.write(`SKIPPED: suites of lib/definition need the corpus, and the folder "${folder}" does not exist; set SONATINA_CORPUS\n`)
  return undefined
}
