import { parseCall } from '../../../../lib/tenancy/call-text.ts'
import { createEvaluator, type Decision } from '../../../../lib/tenancy/evaluate.ts'
import { generateTenant } from '../../../../lib/tenancy/generate.ts'
import { resolveInputs, type InputOptions, type ResolvedInputs } from '../../../../lib/tenancy/inputs.ts'
import { generateSystem } from '../../../../lib/tenancy/system.ts'
import type { AuthorizationPolicy } from '../../../../lib/tenancy/types.ts'

/** The two tenants of the documentation, with two namespaces each. */
export const TWO_TENANTS = {
  tenants: [
    { name: 'team-alpha', namespaces: ['team-alpha-1', 'team-alpha-2'] },
    { name: 'team-bravo', namespaces: ['team-bravo-1', 'team-bravo-2'] },
  ],
}

const WORKLOADS = {
  webapp: 'serving.knative.dev/service=test-webapp',
  activator: 'app=activator,app.kubernetes.io/component=activator',
  imc: 'app.kubernetes.io/component=imc-dispatcher',
  ekb: 'app.kubernetes.io/component=kafka-broker-receiver',
  ekc: 'app.kubernetes.io/component=kafka-channel-receiver',
  eks: 'app.kubernetes.io/component=kafka-sink-receiver',
  ingress: 'app.kubernetes.io/component=broker-ingress',
  filter: 'app.kubernetes.io/component=broker-filter',
  jobs: 'app.kubernetes.io/component=job-sink',
}

/** Inputs and all their documents, those of the system first. */
export function documentsOf(value: unknown, options: InputOptions & { readonly strict?: boolean } = {}): { inputs: ResolvedInputs; documents: AuthorizationPolicy[] } {
  const inputs = resolveInputs(value, 'test', options)
  const tenants = inputs.tenants.flatMap((tenant) => generateTenant(tenant, inputs.values, { strict: options.strict ?? false }))
  return { inputs, documents: [...generateSystem(inputs.values), ...tenants] }
}

/** Decides calls in the short notation on documents. */
export function decider(documents: readonly unknown[]): (from: string, to: string, http: string) => Decision['decision'] {
  const evaluator = createEvaluator(documents)
  return (from, to, http) => evaluator.evaluate(parseCall({ from, to, http }, { workloads: WORKLOADS })).decision
}
