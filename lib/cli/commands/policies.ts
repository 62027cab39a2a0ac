import { TenancyError } from '../../errors/index.ts'
import { auditCommand } from './policies/audit.ts'
import { chartCommand } from './policies/chart.ts'
import { checkCommand } from './policies/check.ts'
import { diffCommand } from './policies/diff.ts'
import { generateCommand, systemCommand } from './policies/generate.ts'
import { matrixCommand } from './policies/matrix.ts'
import type { PoliciesIo, PoliciesVerb } from './policies/shared.ts'
import { validateCommand } from './policies/validate.ts'

const VERBS: Readonly<Record<string, PoliciesVerb>> = {
  generate: generateCommand,
  system: systemCommand,
  chart: chartCommand,
  validate: validateCommand,
  check: checkCommand,
  matrix: matrixCommand,
  audit: auditCommand,
  diff: diffCommand,
}

const USAGE = `usage: sonatina policies <verb> [options]

  generate --name NAME --namespaces A,B | -f TENANTS [--system] [--mesh istio|openshift] [--chart-version V] [--strict]
           [--allow-platform-namespaces] [--out DIR [--check]] [--format yaml|json]
                                   the documents of tenants
  system   [-f TENANTS] [--mesh istio|openshift] [--out DIR [--check]] [--format yaml|json]
                                   the documents that a cluster needs once
  chart    --out DIR [--check]     the Helm chart
  validate FILES…                  every fault of documents, with file and line
  check    --from NS/SA|- --to 'NS|LABEL=VALUE,…|PORT' --http 'METHOD HOST PATH [Header: value]…'|tcp -f FILES…
                                   would this call be allowed, and by which rule
  check    --tenants TENANTS [-f FILES…]
                                   a table of who reaches whom
  matrix   MATRIX [-f FILES…]      all rows of a matrix, differences told
  audit    FILES… [--tenants TENANTS] [--fail-on warning|error]
                                   gaps and mistakes, with severity and cure
  diff     FILES FILES             how two sets differ

Everywhere: --json, --root-namespace NS, --trust-domain DOMAIN. FILES may be folders, and - is standard input.
Exit code: 0 fine or allowed, 1 a difference, a fault or denied, 2 bad input.
`

/**
 * Runs `sonatina policies …`: generates, checks and audits Istio policies for tenants (tenancy.md, section 6). Talks to no cluster.
 *
 * @param args arguments after `policies`
 * @returns the exit code: 0 fine or allowed, 1 a difference, a fault or denied, 2 bad input
 */
export async function policiesCommand(args: readonly string[], io: PoliciesIo): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    io.stdout(USAGE)
    return name === undefined ? 2 : 0
  }
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (verb === undefined) {
    io.stderr(`There is no verb "${name}"; known: ${Object.keys(VERBS).join(', ')}\n`)
    return 2
  }
  if (rest.includes('--help') || rest.includes('-h')) {
    io.stdout(USAGE)
    return 0
  }
  try {
    return await verb(rest, io)
  } catch (error) {
    if (!isBadInput(error)) throw error
    io.stderr(`${error.message}\n`)
    return 2
  }
}

/** Tells whether an error is about what the user gave: the product's own, or an option that does not exist. */
function isBadInput(error: unknown): error is Error {
  if (TenancyError.is(error)) return true
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_')
}
