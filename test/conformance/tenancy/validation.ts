import { join } from 'node:path'
import { isKnownKind, validateDocument } from '../../../lib/tenancy/validate.ts'
import { failed, listFiles, PASSED, readObjects, type Check } from './files.ts'

/** Checks the documents of `validation/`: those with `_err` must be refused with that message, all others must be valid. */
export async function validationChecks(folder: string): Promise<Check[]> {
  const checks: Check[] = []
  for (const file of await listFiles(join(folder, 'validation'), /\.ya?ml$/)) {
    for (const document of await readObjects(folder, 'validation', file)) {
      const { _err: expected, ...value } = document.value
      if (!isKnownKind(value)) continue
      const id = `validation/${file}/${document.name}`
      checks.push({ id, feature: expected === undefined ? 'valid documents' : 'invalid documents', run: () => judge(value, expected) })
    }
  }
  return checks
}

function judge(value: unknown, expected: unknown): ReturnType<Check['run']> {
  const messages = validateDocument(value).map(({ pointer, message }) => `${pointer}: ${message}`)
  if (typeof expected !== 'string') return messages.length === 0 ? PASSED : failed(`refused: ${messages.join('; ')}`)
  if (messages.length === 0) return failed(`accepted, but must be refused: ${expected}`)
  const isNamed = messages.some((message) => message.toLowerCase().includes(expected.toLowerCase()))
  return isNamed ? PASSED : failed(`refused for another reason than "${expected}": ${messages.join('; ')}`)
}
