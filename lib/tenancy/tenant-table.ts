import { createEvaluator, type EvaluatorOptions, type Outcome } from './evaluate.ts'
import type { ResolvedInputs, Tenant } from './inputs.ts'
import { createProbes, localName } from './probes.ts'

/** What one caller may do to one tenant. */
export interface TenantTableRow {
  /** Name of the calling tenant, or `gateway`, `mesh peer`, `no certificate`. */
  readonly caller: string
  readonly target: string
  /** A request to a workload of the target. */
  readonly workload: Outcome
  /** The same, through the activator. */
  readonly activator: Outcome
  /** An event to a broker of the target, addressed by path. */
  readonly broker: Outcome
  /** An event to a channel of the target, addressed by host. */
  readonly channel: Outcome
}

/**
 * Decides the usual calls of every caller on every tenant.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when a document is invalid
 */
export function tenantTable(documents: readonly unknown[], { tenants, values }: ResolvedInputs, options: EvaluatorOptions = {}): TenantTableRow[] {
  const evaluator = createEvaluator(documents, options)
  const probes = createProbes(values)
  const callers: [name: string, peer: string | undefined][] = [
    ...tenants.map((tenant): [string, string] => [tenant.name, probes.identityOf(tenant)]),
    ['gateway', probes.gateway],
    ['mesh peer', probes.identity('some-other-namespace', 'default')],
    ['no certificate', undefined],
  ]
  const rowOf = (caller: string, peer: string | undefined, target: Tenant): TenantTableRow => {
    // The last namespace, so that a tenant's own row is not a call within one namespace.
    const namespace = target.namespaces.at(-1) ?? ''
    const decide = (call: Parameters<typeof evaluator.evaluate>[0]): Outcome => evaluator.evaluate(call).decision
    return {
      caller,
      target: target.name,
      workload: decide(probes.toWorkload(peer, namespace)),
      activator: decide(probes.toActivator(peer, namespace)),
      broker: decide(probes.toReceiver(peer, 'broker-ingress', { path: `/${namespace}/default` })),
      channel: decide(probes.toReceiver(peer, 'imc-dispatcher', { authority: localName(namespace, values) })),
    }
  }
  return callers.flatMap(([caller, peer]) => tenants.map((target) => rowOf(caller, peer, target)))
}
