import { parseArgs } from 'node:util'
import { diffDocuments } from '../../../tenancy/index.ts'
import { badUsage, COMMON_OPTIONS, loadValid, printJson, type PoliciesIo } from './shared.ts'

const SIGNS = { added: '+', removed: '-', changed: '~' } as const

/** Runs `policies diff`: tells which documents a second set adds, removes and changes, and where; 1 when the sets differ. */
export async function diffCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: COMMON_OPTIONS, allowPositionals: true })
  const [before, after, ...more] = positionals
  if (before === undefined || after === undefined || more.length > 0) throw badUsage('two files or folders are expected, the older first')
  const load = async (path: string): Promise<unknown[]> => (await loadValid([path], io)).documents.map(({ value }) => value)
  const differences = diffDocuments(await load(before), await load(after))
  if (values.json === true) printJson(differences, io)
  else {
    for (const { document, change, pointers } of differences) io.stdout(`${SIGNS[change]} ${document}${pointers.map((pointer) => `\n    ${pointer}`).join('')}\n`)
    io.stdout(`${String(differences.length)} document(s) differ\n`)
  }
  return differences.length > 0 ? 1 : 0
}
