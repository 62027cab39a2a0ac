import { readFile } from 'node:fs/promises'

/** Reads which cases the project contests, with the reason of each. */
export async function loadContested(): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await readFile(new URL('contested.json', import.meta.url), 'utf8')) as Record<string, string>
}
