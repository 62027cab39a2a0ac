import { parseArgs } from 'node:util'
import {
  evaluate,
  generateSystem,
  generateTenant,
  parseCall,
  tenantTable,
  type Decision,
  type Reason,
} from '../../../tenancy/index.ts'
import { badUsage, COMMON_OPTIONS, loadInputs, loadValid, printJson, table, toEvaluatorOptions, type PoliciesIo } from './shared.ts'

const OPTIONS = {
  ...COMMON_OPTIONS,
  from: { type: 'string' },
  to: { type: 'string' },
  http: { type: 'string' },
  tcp: { type: 'boolean' },
  file: { type: 'string', short: 'f', multiple: true },
  tenants: { type: 'string' },
  strict: { type: 'boolean' },
  'chart-version': { type: 'string' },
  all: { type: 'boolean' },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values']

/**
 * Runs `policies check`: decides one call and tells by which rule, or with `--tenants` prints who reaches whom.
 *
 * @returns 0 allowed, 1 denied or undecided; always 0 for the table
 */
export async function checkCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  const files = [...values.file ?? [], ...positionals]
  if (values.tenants !== undefined && values.from === undefined) return printTable(values.tenants, { files, values }, io)
  const { from, to } = values
  const http = values.tcp === true ? 'tcp' : values.http
  if (from === undefined || to === undefined || http === undefined) throw badUsage('--from, --to and --http (or --tcp) say which call; --tenants prints a table instead')
  const domain = values['trust-domain']
  const call = parseCall({ from, to, http }, domain === undefined ? {} : { trustDomain: domain })
  const { documents } = await loadValid(files, io)
  const decision = evaluate(documents.map(({ value }) => value), call, toEvaluatorOptions(values))
  if (values.json === true) printJson(decision, io)
  else io.stdout(describeDecision(decision, values.all ?? false))
  return decision.decision === 'allow' ? 0 : 1
}

async function printTable(tenants: string, { files, values }: { files: readonly string[]; values: Values }, io: PoliciesIo): Promise<number> {
  const version = values['chart-version']
  const inputs = await loadInputs(tenants, io, version === undefined ? {} : { chartVersion: version })
  const generated = [...generateSystem(inputs.values), ...inputs.tenants.flatMap((tenant) => generateTenant(tenant, inputs.values, { strict: values.strict ?? false }))]
  // Without files the question is about what would be generated.
  const documents = files.length === 0 ? generated : (await loadValid(files, io)).documents.map(({ value }) => value)
  const rows = tenantTable(documents, inputs, toEvaluatorOptions(values))
  if (values.json === true) printJson(rows, io)
  else {
    const heads = ['caller', 'target', 'workload', 'activator', 'broker', 'channel'] as const
    io.stdout(table(heads, rows.map((row) => heads.map((head) => row[head]))))
  }
  return 0
}

const CLOSEST = 3

function describeDecision(decision: Decision, isFull: boolean): string {
  const [head] = decision.because
  const lines = [decision.decision === 'undecided' ? `undecided: the external authorizer "${decision.provider ?? ''}" would have to be asked` : decision.decision]
  if (decision.document !== undefined && head !== undefined) lines.push(`  by ${describeReason(head)}`)
  else if (decision.decision === 'allow') lines.push('  no ALLOW policy selects the workload')
  else lines.push('  no ALLOW rule matches; the closest:')
  const others = decision.because.filter((reason) => !reason.matched && reason.action === 'ALLOW').sort((left, right) => misses(left) - misses(right))
  const shown = isFull ? decision.because : decision.decision === 'deny' && decision.document === undefined ? others.slice(0, CLOSEST) : []
  return [...lines, ...shown.map((reason) => `  - ${describeReason(reason)}`), ''].join('\n')
}

function misses(reason: Reason): number {
  return reason.fields.length === 0 ? Infinity : reason.fields.filter(({ matched }) => !matched).length
}

function describeReason(reason: Reason): string {
  const place = `${reason.action} ${reason.document}${reason.rule === undefined ? '' : ` rule ${String(reason.rule)}`}`
  if (reason.note !== undefined) return `${place}: ${reason.note}`
  const of = (matched: boolean): string => reason.fields.filter((field) => field.matched === matched).map(({ pointer }) => pointer).join(' ')
  const parts = [of(true) === '' ? '' : `matched ${of(true)}`, of(false) === '' ? '' : `not ${of(false)}`].filter((part) => part !== '')
  return `${place}: ${parts.length === 0 ? 'asks for nothing' : parts.join('; ')}`
}
