import { Facts, type Call } from './call.ts'
import { compilePolicy, type CompiledField, type CompiledPolicy, type CompiledRule, type Layer } from './compile.ts'
import { documentName, namespaceOf, type Action, type AuthorizationPolicy } from './types.ts'
import { assertPolicies } from './validate.ts'

/** What the documents say about a call; `undecided` when an external authorizer would have to be asked. */
export type Outcome = 'allow' | 'deny' | 'undecided'

/** Answers for an external authorizer (CUSTOM policies); `undefined` when it cannot. */
type ExternalAnswer = (provider: string, call: Call) => 'allow' | 'deny' | undefined

/** How documents are read. */
export interface EvaluatorOptions {
  /** Namespace whose policies apply to every workload. @default 'istio-system' */
  readonly rootNamespace?: string
  /** The mesh's trust domain, then its aliases; principals of a policy are meant in all of them. @default as written in the policies */
  readonly trustDomains?: readonly string[]
  /** Answers of external authorizers. @default none: such calls are `undecided` */
  readonly external?: ExternalAnswer
}

/** A decision and what made it. */
interface Verdict {
  readonly outcome: Outcome
  /** `namespace/name` of the policy that decided; absent when no policy selects the workload or none allowed. */
  readonly document?: string
  /** Index of the rule that matched. */
  readonly rule?: number
  /** External authorizer that has to be asked. */
  readonly provider?: string
}

/** What one rule, or a policy as a whole, contributed. */
export interface Reason {
  readonly document: string
  readonly action: Action
  /** Index of the rule; absent when the remark is about the whole policy. */
  readonly rule?: number
  readonly matched: boolean
  /** Every field that was tested: JSON pointer inside the rule, and whether it matched. */
  readonly fields: readonly { readonly pointer: string; readonly matched: boolean }[]
  readonly note?: string
}

/** A decision with its reasons: the rule that decided first, then all others that apply to the workload. */
export interface Decision extends Verdict {
  readonly decision: Outcome
  readonly because: readonly Reason[]
}

/** The policies of one workload, ready to decide. */
export interface WorkloadEvaluator {
  /** How many policies select the workload. */
  readonly policies: number
  /** Decides a call; its destination is taken to be this workload. */
  decide(call: Call): Verdict
  /** Decides a call and tells what every rule said; slower. */
  explain(call: Call): Decision
}

/** Documents, validated and compiled. */
export interface Evaluator {
  /** Policies that never decide, and why: dry runs, policies attached to gateways. */
  readonly ignored: readonly { readonly document: string; readonly reason: string }[]
  /** Picks the policies of a workload once, for many calls. */
  workload(workload: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> }): WorkloadEvaluator
  /** Decides a call from its own destination and tells why. */
  evaluate(call: Call): Decision
}

/**
 * Evaluates a call against documents (tenancy.md, section 4).
 *
 * @param documents parsed Kubernetes objects; other kinds than AuthorizationPolicy are left alone
 * @throws {@link TenancyError} `TENANCY_INVALID` when a document is invalid; nothing is half evaluated
 *
 * @example
 * const decision = evaluate([], { destination: { namespace: 'shop', labels: {}, port: 8080 }, protocol: 'tcp' })
 * decision.decision // => 'allow'
 */
export function evaluate(documents: readonly unknown[], call: Call, options: EvaluatorOptions = {}): Decision {
  return createEvaluator(documents, options).evaluate(call)
}

/**
 * Validates and compiles documents once, for many calls.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` when a document is invalid
 */
export function createEvaluator(documents: readonly unknown[], options: EvaluatorOptions = {}): Evaluator {
  const policies = assertPolicies(documents)
  const ignored = policies.flatMap((policy) => {
    const reason = reasonToIgnore(policy)
    return reason === undefined ? [] : [{ document: documentName(policy), reason }]
  })
  const active = policies.filter((policy) => reasonToIgnore(policy) === undefined)
  const compiler = createCompiler(options.trustDomains ?? [])
  const rootNamespace = options.rootNamespace ?? 'istio-system'
  const workload: Evaluator['workload'] = (of) => {
    const selected = active.filter((policy) => selects(policy, of, rootNamespace))
    return createWorkloadEvaluator(selected, compiler, options.external)
  }
  return { ignored, workload, evaluate: (call) => workload(call.destination).explain(call) }
}

function reasonToIgnore(policy: AuthorizationPolicy): string | undefined {
  if (policy.metadata.annotations?.['istio.io/dry-run'] === 'true') return 'it is a dry run'
  const hasTarget = policy.spec?.targetRef !== undefined || (policy.spec?.targetRefs ?? []).length > 0
  return hasTarget ? 'it is attached to a gateway or service, not to workloads' : undefined
}

function selects(policy: AuthorizationPolicy, { namespace, labels }: Parameters<Evaluator['workload']>[0], rootNamespace: string): boolean {
  const own = namespaceOf(policy)
  if (own !== namespace && own !== rootNamespace) return false
  return Object.entries(policy.spec?.selector?.matchLabels ?? {}).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
}

type Compiler = (policy: AuthorizationPolicy, layer: Layer) => CompiledPolicy

function createCompiler(trustDomains: readonly string[]): Compiler {
  const done: Record<Layer, Map<AuthorizationPolicy, CompiledPolicy>> = { http: new Map(), tcp: new Map(), ambient: new Map() }
  return (policy, layer) => {
    const known = done[layer].get(policy)
    if (known !== undefined) return known
    const compiled = compilePolicy(policy, layer, trustDomains)
    done[layer].set(policy, compiled)
    return compiled
  }
}

/** A rule that is asked, with the verdict to give when it matches. */
interface Candidate {
  readonly match: { readonly document: string; readonly rule: number }
  readonly provider: string
  readonly test: CompiledRule['test']
}

/** Rules of one action: by the only namespaces that they can match, so that a call is not held against the rules of every tenant. */
interface Stage {
  /** Whether a policy of the action selects the workload at all; it may have no rules. */
  readonly isPresent: boolean
  readonly byNamespace: ReadonlyMap<string, readonly Candidate[]>
  readonly others: readonly Candidate[]
}

/** The policies of a workload by action, in the order in which they are asked. */
interface Stages {
  readonly custom: Stage
  readonly deny: Stage
  readonly allow: Stage
  readonly all: readonly CompiledPolicy[]
  /** Istio supports one external authorizer a workload; with several it denies what any of them would be asked. */
  readonly isAmbiguous: boolean
}

function createWorkloadEvaluator(policies: readonly AuthorizationPolicy[], compile: Compiler, external: ExternalAnswer | undefined): WorkloadEvaluator {
  const stages: Partial<Record<Layer, Stages>> = {}
  const stagesOf = (call: Call): Stages => stages[call.protocol] ??= toStages(policies.map((policy) => compile(policy, call.protocol)))
  const decide = (call: Call, facts: Facts): Verdict => decideStages(stagesOf(call), facts, external)
  return {
    policies: policies.length,
    decide: (call) => decide(call, new Facts(call)),
    explain(call) {
      const facts = new Facts(call)
      const verdict = decide(call, facts)
      return { ...verdict, decision: verdict.outcome, because: reasonsOf(stagesOf(call), facts, verdict) }
    },
  }
}

function toStages(all: readonly CompiledPolicy[]): Stages {
  const of = (action: Action): CompiledPolicy[] => all.filter((policy) => policy.action === action)
  const providers = new Set(of('CUSTOM').map((policy) => policy.provider))
  return { custom: toStage(of('CUSTOM')), deny: toStage(of('DENY')), allow: toStage(of('ALLOW')), all, isAmbiguous: providers.size > 1 }
}

function toStage(policies: readonly CompiledPolicy[]): Stage {
  const byNamespace = new Map<string, Candidate[]>()
  const others: Candidate[] = []
  for (const { name, provider, rules } of policies) {
    for (const { index, test, namespaces } of rules) {
      const candidate = { match: { document: name, rule: index }, provider, test }
      if (namespaces === undefined) others.push(candidate)
      for (const namespace of namespaces ?? []) byNamespace.set(namespace, [...byNamespace.get(namespace) ?? [], candidate])
    }
  }
  return { isPresent: policies.length > 0, byNamespace, others }
}

/** Asks CUSTOM, then DENY, then ALLOW (tenancy.md, section 4, rule 2). */
function decideStages(stages: Stages, facts: Facts, external: ExternalAnswer | undefined): Verdict {
  const custom = stages.custom.isPresent ? decideCustom(stages, facts, external) : undefined
  if (custom?.outcome === 'deny') return custom
  const denied = firstMatch(stages.deny, facts)
  if (denied !== undefined) return { outcome: 'deny', ...denied.match }
  const allowed = firstMatch(stages.allow, facts)
  if (allowed === undefined && stages.allow.isPresent) return { outcome: 'deny' }
  // What the authorizer would say is unknown, and everything else lets the call through.
  return custom ?? { outcome: 'allow', ...allowed?.match }
}

function decideCustom(stages: Stages, facts: Facts, external: ExternalAnswer | undefined): Verdict | undefined {
  let open: Verdict | undefined
  for (const { match, provider, test } of [...candidatesFor(stages.custom, facts), ...stages.custom.others]) {
    if (!test(facts)) continue
    const answer = stages.isAmbiguous ? 'deny' : external?.(provider, facts.call)
    if (answer === 'deny') return { outcome: 'deny', ...match, provider }
    if (answer === undefined) open ??= { outcome: 'undecided', ...match, provider }
  }
  return open
}

const NONE: readonly Candidate[] = []

function candidatesFor(stage: Stage, facts: Facts): readonly Candidate[] {
  const namespace = facts.identity?.namespace
  return namespace === undefined ? NONE : stage.byNamespace.get(namespace) ?? NONE
}

function firstMatch(stage: Stage, facts: Facts): Candidate | undefined {
  return candidatesFor(stage, facts).find(({ test }) => test(facts)) ?? stage.others.find(({ test }) => test(facts))
}

function reasonsOf(stages: Stages, facts: Facts, verdict: Verdict): Reason[] {
  const reasons = stages.all.flatMap((policy) => [
    ...policy.rules.map((rule) => reasonOf(policy, rule, facts)),
    ...policy.dropped.map((rule) => remark(policy, 'the rule asks for HTTP and is left out on this connection', rule)),
    ...(policy.rules.length + policy.dropped.length === 0 ? [remark(policy, 'a policy without rules matches nothing')] : []),
  ])
  // Two documents of one name are no valid set, but may be asked about: the action tells them apart.
  const action: Action = verdict.provider !== undefined ? 'CUSTOM' : verdict.outcome === 'allow' ? 'ALLOW' : 'DENY'
  const isDeciding = (reason: Reason): boolean =>
    reason.matched && reason.action === action && reason.document === verdict.document && reason.rule === verdict.rule
  return [...reasons.filter(isDeciding), ...reasons.filter((reason) => !isDeciding(reason))]
}

function reasonOf(policy: CompiledPolicy, rule: CompiledRule, facts: Facts): Reason {
  const toField = (field: CompiledField): { pointer: string; matched: boolean } => ({ pointer: field.pointer, matched: field.test(facts) })
  const fields = [...rule.from.flat(), ...rule.to.flat(), ...rule.when].map(toField)
  return { document: policy.name, action: policy.action, rule: rule.index, matched: rule.test(facts), fields }
}

function remark(policy: CompiledPolicy, note: string, rule?: number): Reason {
  return { document: policy.name, action: policy.action, ...(rule === undefined ? {} : { rule }), matched: false, fields: [], note }
}
