import { parseArgs } from 'node:util'
import { chartFiles } from '../../../tenancy/index.ts'
import { emitFiles } from './generate.ts'
import { badUsage, COMMON_OPTIONS, type PoliciesIo } from './shared.ts'

/** Runs `policies chart`: writes the Helm chart into a folder, or with `--check` compares it with what is there. */
export async function chartCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { ...COMMON_OPTIONS, out: { type: 'string' }, check: { type: 'boolean' } } })
  if (values.out === undefined) throw badUsage('--out names the folder for the chart')
  return emitFiles({ folder: values.out, files: chartFiles() }, { check: values.check ?? false, json: values.json ?? false }, io)
}
