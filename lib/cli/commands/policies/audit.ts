import { parseArgs } from 'node:util'
import { audit, invalidDocuments, loadDocuments, type Finding } from '../../../tenancy/index.ts'
import { badUsage, COMMON_OPTIONS, loadInputs, oneOf, onlyKnown, printJson, type PoliciesIo } from './shared.ts'

/** Runs `policies audit`: prints gaps and mistakes of a set with their cure; 1 when one is as bad as `--fail-on` says (by default an error). */
export async function auditCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { ...COMMON_OPTIONS, tenants: { type: 'string' }, 'fail-on': { type: 'string' }, 'chart-version': { type: 'string' } },
    allowPositionals: true,
  })
  if (positionals.length === 0) throw badUsage('no files are given; name the files or folders with the documents, or - for standard input')
  const failOn = oneOf('fail-on', values['fail-on'], ['warning', 'error']) ?? 'error'
  const loaded = await loadDocuments(positionals, () => io.readStdin())
  if (loaded.violations.length > 0) throw invalidDocuments(loaded.violations)
  const { documents } = onlyKnown(loaded.documents, io)
  const version = values['chart-version']
  const root = values['root-namespace']
  const findings = audit(documents.map(({ value }) => value), {
    ...(values.tenants === undefined ? {} : { inputs: await loadInputs(values.tenants, io, version === undefined ? {} : { chartVersion: version }) }),
    ...(root === undefined ? {} : { rootNamespace: root }),
  })
  if (values.json === true) printJson(findings, io)
  else io.stdout(describe(findings))
  const isBad = ({ severity }: Finding): boolean => severity === 'error' || (failOn === 'warning' && severity === 'warning')
  return findings.some(isBad) ? 1 : 0
}

function describe(findings: readonly Finding[]): string {
  const lines = findings.map(({ code, severity, document, message, cure, row }) =>
    `${severity} ${code}${document === undefined ? '' : ` ${document}`}: ${message}\n  cure: ${cure}${row === undefined ? '' : ` (row ${row})`}\n`)
  const count = (severity: Finding['severity']): string => String(findings.filter((finding) => finding.severity === severity).length)
  return `${lines.join('')}${count('error')} error(s), ${count('warning')} warning(s), ${count('info')} remark(s)\n`
}
