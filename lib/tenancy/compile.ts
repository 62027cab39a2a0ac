import { conditionKind } from './conditions.ts'
import { OPERATION_FIELDS, SOURCE_FIELDS, type FieldContext, type FieldKind, type FieldTest } from './fields.ts'
import { documentName, namespaceOf, type Action, type AuthorizationPolicy, type Rule } from './types.ts'

/**
 * What a proxy can see: HTTP requests, connections (a sidecar on a TCP port), or connections as the node proxy of ambient mode sees them.
 */
export type Layer = 'http' | 'tcp' | 'ambient'

/** One field of a rule, compiled. */
export interface CompiledField {
  /** Where it stands in the rule, as a JSON pointer: `/from/0/source/namespaces`. */
  readonly pointer: string
  readonly test: FieldTest
}

/** One rule, compiled: all of `when`, all fields of one entry of `from`, all fields of one entry of `to`. */
export interface CompiledRule {
  readonly index: number
  /** Empty means: any source. */
  readonly from: readonly (readonly CompiledField[])[]
  /** Empty means: any operation. */
  readonly to: readonly (readonly CompiledField[])[]
  readonly when: readonly CompiledField[]
  /** Tells whether the rule matches: all of the above in one test. */
  readonly test: FieldTest
  /** Namespaces outside which no caller matches, when every source lists its namespaces without wildcards. */
  readonly namespaces: readonly string[] | undefined
}

/** One policy, compiled for one layer. */
export interface CompiledPolicy {
  readonly name: string
  readonly action: Action
  /** External authorizer of a CUSTOM policy. */
  readonly provider: string
  readonly rules: readonly CompiledRule[]
  /** Rules left out because they ask for HTTP on a connection that has none (tenancy.md, section 4, rule 8). */
  readonly dropped: readonly number[]
}

/**
 * Compiles a policy to tests.
 *
 * On a layer below HTTP an ALLOW rule with an HTTP field is dropped whole; in other actions only the field is, so the rule gets wider.
 * The policy must be valid (`validatePolicies`).
 */
export function compilePolicy(policy: AuthorizationPolicy, layer: Layer, trustDomains: readonly string[] = []): CompiledPolicy {
  const action = policy.spec?.action ?? 'ALLOW'
  const compiler = { layer, context: { namespace: namespaceOf(policy), trustDomains } }
  const rules: CompiledRule[] = []
  const dropped: number[] = []
  for (const [index, rule] of (policy.spec?.rules ?? []).entries()) {
    const compiled = compileRule(rule, index, compiler)
    if (compiled.isNarrowed && action === 'ALLOW') dropped.push(index)
    else rules.push(compiled.rule)
  }
  return { name: documentName(policy), action, provider: policy.spec?.provider?.name ?? '', rules, dropped }
}

interface Compiler {
  readonly layer: Layer
  readonly context: FieldContext
}

function compileRule(rule: Rule, index: number, compiler: Compiler): { rule: CompiledRule; isNarrowed: boolean } {
  const list = new FieldList(compiler)
  const from = (rule.from ?? []).map(({ source }, at) => list.compile(SOURCE_FIELDS, source, `/from/${String(at)}/source`))
  const to = (rule.to ?? []).map(({ operation }, at) => list.compile(OPERATION_FIELDS, operation, `/to/${String(at)}/operation`))
  const when = (rule.when ?? []).flatMap((condition, at) => {
    const kind = conditionKind(condition.key)
    return kind === undefined ? [] : list.compile([['values', 'notValues', kind]], condition, `/when/${String(at)}`)
  })
  // Conditions before operations: a header is one look-up, hosts are a list of patterns.
  const test = allOf([anyOf(from.map(fieldsTest)), fieldsTest(when), anyOf(to.map(fieldsTest))].filter((part) => part !== ALWAYS))
  return { rule: { index, from, to, when, test, namespaces: sourceNamespaces(rule) }, isNarrowed: list.isNarrowed }
}

function sourceNamespaces(rule: Rule): readonly string[] | undefined {
  const lists = (rule.from ?? []).map(({ source }) => source.namespaces ?? [])
  const isExact = lists.length > 0 && lists.every((list) => list.length > 0 && list.every((namespace) => !namespace.includes('*')))
  return isExact ? [...new Set(lists.flat())] : undefined
}

const ALWAYS: FieldTest = () => true

function fieldsTest(fields: readonly CompiledField[]): FieldTest {
  return allOf(fields.map(({ test }) => test))
}

// Most rules have one or two conditions; closures for these save the loop, which is half of the time of a decision.
function allOf(tests: readonly FieldTest[]): FieldTest {
  const [first, second, ...more] = tests
  if (first === undefined) return ALWAYS
  if (second === undefined) return first
  if (more.length === 0) return (facts) => first(facts) && second(facts)
  const rest = allOf(more)
  return (facts) => first(facts) && second(facts) && rest(facts)
}

function anyOf(tests: readonly FieldTest[]): FieldTest {
  const [first, ...more] = tests
  if (first === undefined || tests.includes(ALWAYS)) return ALWAYS
  if (more.length === 0) return first
  const rest = anyOf(more)
  return (facts) => first(facts) || rest(facts)
}

/** Compiles fields and remembers whether one of them had to be left out. */
class FieldList {
  isNarrowed = false
  readonly #compiler: Compiler

  constructor(compiler: Compiler) {
    this.#compiler = compiler
  }

  compile<Key extends string>(
    kinds: readonly (readonly [Key, Key, FieldKind])[],
    values: Readonly<Partial<Record<Key, readonly string[]>>>,
    pointer: string,
  ): CompiledField[] {
    const fields: CompiledField[] = []
    for (const [positive, negative, kind] of kinds) {
      fields.push(...this.#compileList(kind, values[positive], `${pointer}/${positive}`))
      for (const field of this.#compileList(kind, values[negative], `${pointer}/${negative}`)) {
        fields.push({ pointer: field.pointer, test: (facts) => !field.test(facts) })
      }
    }
    return fields
  }

  #compileList(kind: FieldKind, values: readonly string[] | undefined, pointer: string): CompiledField[] {
    // An empty list counts as an absent field (tenancy.md, section 4, rule 4).
    if (values === undefined || values.length === 0) return []
    const { layer, context } = this.#compiler
    if ((layer !== 'http' && kind.httpOnly === true) || (layer === 'ambient' && kind.ambient !== true)) {
      this.isNarrowed = true
      return []
    }
    return [{ pointer, test: kind.compile(values, context) }]
  }
}
