import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import type { Call } from '../../../lib/tenancy/call.ts'
import { createEvaluator, type Decision, type Evaluator, type Outcome } from '../../../lib/tenancy/evaluate.ts'
import { documentName, type AuthorizationPolicy } from '../../../lib/tenancy/types.ts'
import { evaluatePolicy, type Node, type PolicyVerdict } from './envoy.ts'
import { failed, listFiles, PASSED, readObjects, type Check, type Verdict } from './files.ts'
import { aimedCall, createRandom } from './random-calls.ts'
import { longestList, slicePolicy, slicePolicyNode } from './slices.ts'

const CALLS = 1000
const CALLS_A_SLICE = 250

interface Filter {
  readonly file: string
  readonly name: string
  readonly config: Node
  readonly rules: Rules | undefined
  readonly shadow: Rules | undefined
}

interface Rules {
  readonly action: string
  readonly policies: readonly (readonly [key: PolicyKey, policy: Node])[]
}

interface PolicyKey {
  readonly document: string
  readonly rule: number
  /** External authorizer; empty unless the policy is CUSTOM. */
  readonly provider: string
  readonly isBadCustom: boolean
}

/** One input and the filters it must become. */
interface Pair {
  readonly policies: readonly AuthorizationPolicy[]
  readonly filters: readonly Filter[]
}

/**
 * Checks `builder/<folder>/*-out*.yaml`: on random calls the product decides what an evaluator of Envoy's filter decides, rule by rule and
 * condition by condition. The input is `*-in.yaml` of the same name, else the one that holds the policies that the filter names.
 */
export async function builderChecks(folder: string): Promise<Check[]> {
  const groups = await readdir(join(folder, 'builder')).catch(() => [])
  return (await Promise.all(groups.sort().map((group) => folderChecks(join(folder, 'builder', group))))).flat()
}

async function folderChecks(folder: string): Promise<Check[]> {
  const inputs = new Map<string, readonly AuthorizationPolicy[]>()
  for (const file of await listFiles(folder, /-in\.ya?ml$/)) {
    inputs.set(file.replace(/-in\.ya?ml$/, ''), (await readObjects(folder, file)).map(({ value }) => value as unknown as AuthorizationPolicy))
  }
  const chains = new Map<string, Filter[]>()
  for (const file of await listFiles(folder, /-out\d*\.ya?ml$/)) {
    const base = file.replace(/-out\d*\.ya?ml$/, '')
    chains.set(base, [...chains.get(base) ?? [], toFilter(file, parse(await readFile(join(folder, file), 'utf8')) as Node)])
  }
  return [...chains].flatMap(([base, filters]) => {
    const policies = inputs.get(base) ?? [...inputs.values()].find((candidate) => holdsPolicies(candidate, filters))
    return filters.map((filter): Check => ({
      id: `builder/${basename(folder)}/${filter.file.replace(/\.ya?ml$/, '')}`,
      feature: `Envoy filters (${basename(folder)})`,
      run: () => policies === undefined ? failed('no input holds the policies that the filter names') : judge({ policies, filters }, filter),
    }))
  })
}

function toFilter(file: string, document: Node): Filter {
  const config = document['typedConfig'] as Node
  return { file, name: String(document['name']), config, rules: toRules(config['rules']), shadow: toRules(config['shadowRules']) }
}

function toRules(value: unknown): Rules | undefined {
  if (value === undefined) return undefined
  const { action, policies } = value as { readonly action?: string; readonly policies?: Readonly<Record<string, Node>> }
  return { action: action ?? 'ALLOW', policies: Object.entries(policies ?? {}).map(([key, policy]) => [toKey(key), policy]) }
}

function toKey(text: string): PolicyKey {
  const match = /^(?:istio-ext-authz-(.*)-)?ns\[(.*?)\]-policy\[(.*?)\]-rule\[(\d+)\](-deny-due-to-bad-CUSTOM-action)?$/.exec(text)
  if (match === null) throw new TypeError(`the policy key "${text}" is of no known form`)
  return { provider: match[1] ?? '', document: `${match[2] ?? ''}/${match[3] ?? ''}`, rule: Number(match[4]), isBadCustom: match[5] !== undefined }
}

function keysOf(filters: readonly Filter[]): PolicyKey[] {
  return filters.flatMap(({ rules, shadow }) => [...rules?.policies ?? [], ...shadow?.policies ?? []]).map(([key]) => key)
}

function holdsPolicies(policies: readonly AuthorizationPolicy[], filters: readonly Filter[]): boolean {
  const keys = keysOf(filters)
  return keys.length > 0 && keys.every((key) => policies.some((policy) =>
    documentName(policy) === key.document && (policy.spec?.provider?.name ?? '') === key.provider))
}

function judge(pair: Pair, filter: Filter): Verdict {
  if (filter.name.endsWith('ext_authz')) return judgeAuthorizer(pair, filter)
  const protocol = filter.name.includes('.network.') ? 'tcp' : 'http'
  const options = { rootNamespace: 'istio-config', trustDomains: trustDomainsOf(pair), ...externalOf(pair) }
  const evaluator = createEvaluator(pair.policies, options)
  // Dry runs decide nothing; their rules are compared on copies without the annotation.
  const armed = createEvaluator(pair.policies.map(withoutAnnotations), options)
  const random = createRandom(7)
  const seen = { allow: 0, deny: 0, undecided: 0 }
  for (let count = 0; count < CALLS; count += 1) {
    const call = aimedCall(pair.policies, protocol, random)
    const fault = compareDecisions(pair, evaluator, call, seen) ?? compareRules(filter, armed.evaluate(call), call)
    if (fault !== undefined) return failed(`${fault} on ${JSON.stringify(call)}`)
  }
  const fault = compareSlices(pair, filter, protocol)
  if (fault !== undefined) return failed(fault)
  return { outcome: 'passed', reason: `${String(CALLS)} calls: ${String(seen.allow)} allowed, ${String(seen.deny)} denied, ${String(seen.undecided)} undecided` }
}

/** Compares value by value; not where trust domains have turned one value into several. */
function compareSlices(pair: Pair, filter: Filter, protocol: Call['protocol']): string | undefined {
  const slices = trustDomainsOf(pair).length > 0 ? 0 : longestList(pair.policies)
  for (let at = 0; at < slices; at += 1) {
    const policies = pair.policies.map((policy) => slicePolicy(withoutAnnotations(policy), at))
    const evaluator = createEvaluator(policies, { rootNamespace: 'istio-config' })
    const sliced = { ...filter, rules: sliceRules(filter.rules, at), shadow: sliceRules(filter.shadow, at) }
    const random = createRandom(at)
    for (let count = 0; count < CALLS_A_SLICE; count += 1) {
      const call = aimedCall(policies, protocol, random)
      const fault = compareRules(sliced, evaluator.evaluate(call), call)
      if (fault !== undefined) return `value ${String(at)} of each list: ${fault} on ${JSON.stringify(call)}`
    }
  }
  return undefined
}

function sliceRules(rules: Rules | undefined, at: number): Rules | undefined {
  return rules === undefined ? undefined : { ...rules, policies: rules.policies.map(([key, policy]) => [key, slicePolicyNode(policy, at)]) }
}

function judgeAuthorizer(pair: Pair, filter: Filter): Verdict {
  const prefix = ((filter.config['filterEnabledMetadata'] as Node | undefined)?.['value'] as { stringMatch?: { prefix?: string } } | undefined)?.stringMatch?.prefix
  const providers = new Set(pair.policies.map((policy) => policy.spec?.provider?.name))
  const random = createRandom(7)
  const evaluator = createEvaluator(pair.policies, { rootNamespace: 'istio-config' })
  for (let count = 0; count < CALLS; count += 1) {
    const decision = evaluator.evaluate(aimedCall(pair.policies, filter.name.includes('.network.') ? 'tcp' : 'http', random))
    if (decision.decision === 'undecided' && `istio-ext-authz-${decision.provider ?? ''}` !== prefix) {
      return failed(`the filter asks "${String(prefix)}", the product "${String(decision.provider)}"`)
    }
  }
  return providers.size === 1 ? PASSED : failed('one external authorizer is expected')
}

function withoutAnnotations(policy: AuthorizationPolicy): AuthorizationPolicy {
  const { annotations: _dropped, ...metadata } = policy.metadata
  return { ...policy, metadata }
}

function compareDecisions(pair: Pair, evaluator: Evaluator, call: Call, seen: Record<Outcome, number>): string | undefined {
  const wanted = decideChain(pair.filters, call)
  const { decision } = evaluator.evaluate(call)
  seen[decision] += 1
  return decision === wanted ? undefined : `${decision} instead of ${wanted}`
}

/** What the filters of a proxy decide together. */
function decideChain(filters: readonly Filter[], call: Call): Outcome {
  let asks = false
  for (const { rules, shadow, config } of filters) {
    const matches = (all: Rules | undefined): boolean => (all?.policies ?? []).some(([, policy]) => evaluatePolicy(policy, call).matched)
    if (rules?.action === 'DENY' && matches(rules)) return 'deny'
    if (rules?.action === 'ALLOW' && !matches(rules)) return 'deny'
    if ((config['shadowRulesStatPrefix'] === 'istio_ext_authz_' || keysOfRules(shadow).some(({ provider }) => provider !== '')) && matches(shadow)) asks = true
  }
  return asks ? 'undecided' : 'allow'
}

function keysOfRules(rules: Rules | undefined): PolicyKey[] {
  return (rules?.policies ?? []).map(([key]) => key)
}

function compareRules(filter: Filter, decision: Decision, call: Call): string | undefined {
  for (const [key, policy] of [...filter.rules?.policies ?? [], ...filter.shadow?.policies ?? []]) {
    const wanted = evaluatePolicy(policy, call)
    const reason = decision.because.find(({ document, rule }) => document === key.document && rule === key.rule)
    if (reason === undefined) {
      // A policy without rules has one that never matches in the filter.
      if (!wanted.matched && decision.because.some(({ document }) => document === key.document)) continue
      return `rule ${String(key.rule)} of ${key.document} is missing`
    }
    if (reason.matched !== wanted.matched) return `rule ${String(key.rule)} of ${key.document} says ${String(reason.matched)} instead of ${String(wanted.matched)}`
    const fault = compareConditions(reason.fields, wanted)
    if (fault !== undefined) return `rule ${String(key.rule)} of ${key.document}: ${fault}`
  }
  return undefined
}

/** Compares how many conditions hold and fail, for each source with each operation; the filter does not name its conditions. */
function compareConditions(fields: readonly { pointer: string; matched: boolean }[], wanted: PolicyVerdict): string | undefined {
  for (const [at, principal] of wanted.principals.entries()) {
    for (const [to, permission] of wanted.permissions.entries()) {
      const theirs = [...principal, ...permission]
      const ours = fields.filter(({ pointer }) => pointer.startsWith(`/from/${String(at)}/`) || pointer.startsWith(`/to/${String(to)}/`) || pointer.startsWith('/when/'))
      const count = (all: readonly boolean[]): string => `${String(all.filter(Boolean).length)} of ${String(all.length)}`
      const [mine, expected] = [count(ours.map(({ matched }) => matched)), count(theirs)]
      if (mine !== expected) return `source ${String(at)} with operation ${String(to)}: ${mine} conditions hold instead of ${expected}`
    }
  }
  return undefined
}

/** An authorizer that is not configured makes the filter deny. */
function externalOf({ policies, filters }: Pair): { external?: () => 'deny' } {
  const isBad = keysOf(filters).some(({ isBadCustom }) => isBadCustom)
  const providers = new Set(policies.map((policy) => policy.spec?.provider?.name).filter((name) => name !== undefined))
  return isBad && providers.size === 1 ? { external: () => 'deny' } : {}
}

/**
 * Reads the trust domain and its aliases, which the input does not hold, off the filter: domains of its exact principals that the input
 * does not have, and for each `*x` domain of the input one that ends so.
 */
function trustDomainsOf({ policies, filters }: Pair): string[] {
  const domains = (text: string): string[] => [...text.matchAll(/([^\s/"]+)\/ns\/[^/"]+\/sa\/[^/"]+/g)].map((match) => match[1] ?? '')
  const given = domains(JSON.stringify(policies))
  const expected = domains(JSON.stringify(filters.map(({ config }) => config)).replaceAll('spiffe://', '')).filter((domain) => !/[*\\]/.test(domain))
  if (expected.every((domain) => given.includes(domain))) return []
  const witnesses = given.filter((domain) => domain.startsWith('*') && domain !== '*').map((domain) => `any${domain.slice(1)}`)
  return [...new Set([...witnesses, ...expected])]
}
