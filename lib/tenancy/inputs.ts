import { isJsonObject, toPointer } from '../common/index.ts'
import { TenancyError, type Violation } from '../errors/index.ts'
import { PLATFORM_NAMESPACE, SHARED_SCHEMA, TENANTS_SCHEMA, TENANT_SCHEMA } from './inputs-schema.ts'
import { compileSchema } from './validate-schema.ts'

/** A tenant: its name and the namespaces it owns. */
export interface Tenant {
  readonly name: string
  readonly namespaces: readonly string[]
}

/** A component of the platform: its name (label or service account) and the short form that document names carry. */
export interface Component {
  readonly name: string
  readonly shortName: string
}

/** Values that tenants share, as an author may give them; the chart takes the same. */
interface SharedValues {
  /** Namespace of the mesh's control plane and of its ingress gateway. @default 'istio-system' */
  readonly istioNamespace?: string
  readonly cluster?: {
    /** Domain of service names. @default 'cluster.local' */
    readonly domain?: string
  }
  /** SPIFFE trust domain of principals. @default 'cluster.local' */
  readonly trustDomain?: string
  readonly serving?: {
    /** @default true */
    readonly enabled?: boolean
    /** @default the activator */
    readonly receivers?: readonly Component[]
    /** Namespace of Knative's own ingress; empty for none. @default by chart version */
    readonly ingressNamespace?: string
  }
  readonly eventing?: {
    /** @default true */
    readonly enabled?: boolean
    /** @default by chart version */
    readonly receivers?: readonly Component[]
    /** Service accounts of knative-eventing that deliver events. @default the six of Knative */
    readonly sendersServiceAccounts?: readonly Component[]
  }
}

/** Values with every default filled in. */
export interface ResolvedValues {
  readonly istioNamespace: string
  readonly clusterDomain: string
  readonly trustDomain: string
  readonly serving: { readonly enabled: boolean; readonly receivers: readonly Component[]; readonly ingressNamespace: string }
  readonly eventing: { readonly enabled: boolean; readonly receivers: readonly Component[]; readonly senders: readonly Component[] }
  readonly chartVersion: ChartVersion
}

/** Tenants and their values, checked. */
export interface ResolvedInputs {
  readonly tenants: readonly Tenant[]
  readonly values: ResolvedValues
}

/** How inputs are read. */
export interface InputOptions {
  /** Release of the chart whose documents are wanted: `main`, `1.36`, `1.35`, … `1.31`, also `release-1.35`. @default 'main' */
  readonly chartVersion?: string
  /** Lets tenants own `kube-*` and `openshift-*` namespaces. @default false */
  readonly allowPlatformNamespaces?: boolean
}

/** The releases of the chart that differ, newest first. */
type ChartVersion = 'main' | '1.35' | '1.31'

/** Namespaces of Knative itself. */
export const SERVING_NAMESPACE = 'knative-serving'
/** Namespace of Knative Eventing. */
export const EVENTING_NAMESPACE = 'knative-eventing'

const toComponent = ([name, shortName]: readonly [string, string]): Component => ({ name, shortName })

const SERVING_RECEIVERS: readonly Component[] = [toComponent(['activator', 'activator'])]
const EVENTING_RECEIVERS: readonly Component[] = ([
  ['imc-dispatcher', 'imc'],
  ['kafka-broker-receiver', 'ekb'],
  ['kafka-channel-receiver', 'ekc'],
  ['kafka-sink-receiver', 'eks'],
  ['broker-ingress', 'broker-ingress'],
  ['job-sink', 'job-sink'],
] as const).map(toComponent)
const SENDERS: readonly Component[] = ([
  ['pingsource-mt-adapter', 'pingsource'],
  ['imc-dispatcher', 'imc'],
  ['mt-broker-filter', 'broker-filter'],
  ['knative-kafka-source-data-plane', 'eks'],
  ['knative-kafka-broker-data-plane', 'ekb'],
  ['knative-kafka-channel-data-plane', 'ekc'],
] as const).map(toComponent)

const validateTenants = compileSchema(TENANTS_SCHEMA)
const validateTenant = compileSchema(TENANT_SCHEMA)
const validateShared = compileSchema(SHARED_SCHEMA)

/**
 * Checks tenants with their values and fills in the defaults (tenancy.md, section 3, "Inputs").
 *
 * @param value a tenants file (`tenants` plus shared values), or the values of one tenant as the chart takes them
 * @param place file or option names, for messages
 * @throws {@link TenancyError} `TENANCY_INVALID` with every reason for which the input is refused in `details.violations`
 *
 * @example
 * const { values } = resolveInputs({ name: 'team-a', namespaces: ['team-a-1'] }, 'options')
 * values.istioNamespace // => 'istio-system'
 */
export function resolveInputs(value: unknown, place: string, options: InputOptions = {}): ResolvedInputs {
  const chartVersion = parseChartVersion(options.chartVersion ?? 'main')
  const isFile = isJsonObject(value) && Object.hasOwn(value, 'tenants')
  const violations = (isFile ? validateTenants : validateTenant)(value)
  if (violations.length > 0) throw refuse(place, violations)
  const shared = value as SharedValues
  const tenants = isFile ? (value as unknown as { tenants: readonly Tenant[] }).tenants : [value as Tenant]
  const values = fillDefaults(shared, chartVersion)
  const refused = [...checkTenants(tenants, values, { isFile, allowPlatform: options.allowPlatformNamespaces ?? false }), ...checkValues(values)]
  if (refused.length > 0) throw refuse(place, refused)
  return { tenants: tenants.map(({ name, namespaces }) => ({ name, namespaces })), values }
}

/**
 * Checks values without tenants and fills in the defaults, for the documents that a cluster needs once.
 *
 * @throws {@link TenancyError} `TENANCY_INVALID` with every reason for which they are refused
 */
export function resolveValues(value: unknown, place: string, options: Pick<InputOptions, 'chartVersion'> = {}): ResolvedValues {
  const violations = validateShared(value)
  if (violations.length > 0) throw refuse(place, violations)
  return fillDefaults(value as SharedValues, parseChartVersion(options.chartVersion ?? 'main'))
}

/** Reads the name of a chart release. */
function parseChartVersion(text: string): ChartVersion {
  const minor = /^(?:release-|v)?1\.(\d+)(?:\.\d+)?$/.exec(text)?.[1]
  if (text === 'main' || (minor !== undefined && Number(minor) === 36)) return 'main'
  if (minor !== undefined && Number(minor) === 35) return '1.35'
  if (minor !== undefined && Number(minor) >= 31 && Number(minor) < 35) return '1.31'
  throw refuse('chart version', [{ pointer: '', message: `"${text}" is not known`, hint: 'known: main, 1.36, 1.35, 1.34, 1.33, 1.32, 1.31' }])
}

function fillDefaults(values: SharedValues, chartVersion: ChartVersion): ResolvedValues {
  return {
    istioNamespace: values.istioNamespace ?? 'istio-system',
    clusterDomain: values.cluster?.domain ?? 'cluster.local',
    trustDomain: values.trustDomain ?? 'cluster.local',
    serving: servingOf(values.serving, chartVersion),
    eventing: eventingOf(values.eventing, chartVersion),
    chartVersion,
  }
}

function servingOf(serving: SharedValues['serving'] = {}, chartVersion: ChartVersion): ResolvedValues['serving'] {
  return {
    enabled: serving.enabled ?? true,
    receivers: serving.receivers ?? SERVING_RECEIVERS,
    ingressNamespace: serving.ingressNamespace ?? (chartVersion === '1.31' ? '' : 'knative-serving-ingress'),
  }
}

function eventingOf(eventing: SharedValues['eventing'] = {}, chartVersion: ChartVersion): ResolvedValues['eventing'] {
  const receivers = chartVersion === 'main' ? EVENTING_RECEIVERS : EVENTING_RECEIVERS.filter(({ name }) => name !== 'job-sink')
  return {
    enabled: eventing.enabled ?? true,
    receivers: eventing.receivers ?? receivers,
    senders: eventing.sendersServiceAccounts ?? SENDERS,
  }
}

function checkTenants(tenants: readonly Tenant[], values: ResolvedValues, options: { readonly isFile: boolean; readonly allowPlatform: boolean }): Violation[] {
  const system = new Set([values.istioNamespace, SERVING_NAMESPACE, EVENTING_NAMESPACE, 'knative-serving-ingress', values.serving.ingressNamespace])
  const owners = new Map<string, string>()
  const names = new Set<string>()
  const found: Violation[] = []
  for (const [index, { name, namespaces }] of tenants.entries()) {
    const path = options.isFile ? ['tenants', index] : []
    if (names.has(name)) found.push({ pointer: toPointer([...path, 'name']), message: `the tenant name "${name}" is used twice` })
    names.add(name)
    for (const [at, namespace] of namespaces.entries()) {
      const fault = faultOfNamespace(namespace, { system, owner: owners.get(namespace), allowPlatform: options.allowPlatform })
      if (fault !== undefined) found.push({ pointer: toPointer([...path, 'namespaces', at]), ...fault })
      owners.set(namespace, name)
    }
  }
  return found
}

interface Surroundings {
  readonly system: ReadonlySet<string>
  /** Tenant that the namespace belongs to already. */
  readonly owner: string | undefined
  readonly allowPlatform: boolean
}

function faultOfNamespace(namespace: string, { system, owner, allowPlatform }: Surroundings): Omit<Violation, 'pointer'> | undefined {
  if (owner !== undefined) return { message: `the namespace "${namespace}" already belongs to tenant "${owner}"`, hint: 'a shared namespace would void the isolation' }
  if (system.has(namespace)) return { message: `the namespace "${namespace}" is the platform's own and cannot be a tenant's` }
  if (PLATFORM_NAMESPACE.test(namespace) && !allowPlatform) {
    return { message: `the namespace "${namespace}" belongs to the platform`, hint: '--allow-platform-namespaces permits it' }
  }
  return undefined
}

function checkValues(values: ResolvedValues): Violation[] {
  const found: Violation[] = []
  if (!values.serving.enabled && !values.eventing.enabled) {
    found.push({ pointer: '/serving/enabled', message: 'serving and eventing are both disabled', hint: 'nothing would isolate the tenant' })
  }
  const lists = [['/serving/receivers', values.serving.receivers], ['/eventing/receivers', values.eventing.receivers],
    ['/eventing/sendersServiceAccounts', values.eventing.senders]] as const
  for (const [pointer, components] of lists) {
    for (const key of ['shortName', 'name'] as const) {
      const twice = components.find((component, index) => components.some((other, at) => at < index && other[key] === component[key]))
      if (twice !== undefined) found.push({ pointer, message: `two entries have the same ${key} "${twice[key]}"` })
    }
  }
  return found
}

function refuse(place: string, violations: readonly Violation[]): TenancyError {
  const lines = violations.map(({ pointer, message, hint }) => `${pointer === '' ? '' : `${pointer}: `}${message}${hint === undefined ? '' : ` (${hint})`}`)
  return new TenancyError({ code: 'TENANCY_INVALID', message: `${place}: ${lines.join('; ')}`, details: { place, violations } })
}
