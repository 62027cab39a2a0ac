import { parseArgs } from 'node:util'
import { TenancyError } from '../../../errors/index.ts'
import { describeViolation, loadDocuments, validateLoaded, type DocumentViolation, type LoadedFiles } from '../../../tenancy/index.ts'
import { badUsage, COMMON_OPTIONS, onlyKnown, printJson, type PoliciesIo } from './shared.ts'

/** Runs `policies validate`: lists every fault of the documents, with file and line; 1 when there is one. */
export async function validateCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: COMMON_OPTIONS, allowPositionals: true })
  if (positionals.length === 0) throw badUsage('no files are given; name the files or folders with the documents, or - for standard input')
  const loaded = await loadEach(positionals, io)
  const { documents, skipped } = onlyKnown(loaded.documents, io)
  const violations = [...loaded.violations, ...validateLoaded(loaded.documents)]
  if (values.json === true) printJson({ documents: documents.length, skipped, violations }, io)
  else {
    for (const violation of violations) io.stdout(`${describeViolation(violation)}\n`)
    io.stdout(`${String(documents.length)} document(s), ${String(violations.length)} fault(s)\n`)
  }
  return violations.length > 0 ? 1 : 0
}

/** Loads files one by one: one that cannot be read is a fault among others. */
async function loadEach(files: readonly string[], io: PoliciesIo): Promise<LoadedFiles> {
  const loaded = await Promise.all(files.map(async (file): Promise<LoadedFiles> => {
    try {
      return await loadDocuments([file], () => io.readStdin())
    } catch (error) {
      if (!TenancyError.is(error)) throw error
      const violation: DocumentViolation = { document: '#1', file, pointer: '', message: error.message }
      return { documents: [], violations: [violation] }
    }
  }))
  return { documents: loaded.flatMap(({ documents }) => documents), violations: loaded.flatMap(({ violations }) => violations) }
}
