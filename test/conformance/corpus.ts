import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'

/** Folder of the test data of others: `SONATINA_CORPUS`, else beside the repository. */
export function defaultCorpus(): string {
  return resolve(process.env['SONATINA_CORPUS'] ?? '../shared/corpus')
}

/** Folder of the cases that the project adds for rules that the corpus does not show; laid out like it. */
export const OWN_CASES = 'test/conformance/own'

/** Tells whether a folder is there. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then((status) => status.isDirectory(), () => false)
}

/** Says in one line that a suite cannot run because its data is not there. */
export function missingCorpusLine(path: string, suites: number): string {
  return `SKIPPED: ${suites} suite(s) need the corpus, and the folder "${path}" does not exist; set SONATINA_CORPUS`
}
