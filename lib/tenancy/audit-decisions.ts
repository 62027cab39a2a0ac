import { atPointer } from '../common/index.ts'
import type { AuditSubject, Finding, FindingCode, Severity } from './finding.ts'
import type { Call } from './call.ts'
import { createEvaluator, type Decision } from './evaluate.ts'
import { EVENTING_NAMESPACE, SERVING_NAMESPACE, type Tenant } from './inputs.ts'
import { createProbes, localName, type Probes } from './probes.ts'

interface Asking {
  readonly subject: AuditSubject
  readonly probes: Probes
  readonly ask: (call: Call) => Decision
}

/** Finds gaps by asking the documents about calls that should not pass; needs valid documents. */
export function auditDecisions(subject: AuditSubject): Finding[] {
  const evaluator = createEvaluator(subject.documents, { rootNamespace: subject.rootNamespace })
  const asking: Asking = { subject, probes: createProbes(subject.values), ask: (call) => evaluator.evaluate(call) }
  return [
    ...subject.tenants.flatMap((tenant) => [
      ...gatewayIdentity(asking, tenant),
      ...drainOpen(asking, tenant),
      ...systemIdentityWide(asking, tenant),
      ...activator(asking, tenant),
      ...receivers(asking, tenant),
      ...foreignCallers(asking, tenant),
    ]),
    ...defaultDeny(asking),
  ]
}

function isAllowed(decision: Decision): boolean {
  return decision.decision !== 'deny'
}

interface FindingText {
  readonly severity?: Severity
  readonly message: string
  readonly cure: string
  readonly row?: string
}

function found(code: FindingCode, decision: Decision, text: FindingText): Finding {
  return { code, severity: 'warning', ...(decision.document === undefined ? {} : { document: decision.document }), ...text }
}

function gatewayIdentity(asking: Asking, tenant: Tenant): Finding[] {
  const { probes, ask, subject } = asking
  return tenant.namespaces.flatMap((namespace) => {
    const decision = ask(probes.toWorkload(probes.gateway, namespace))
    if (!isAllowed(decision)) return gatewayPorts(asking, namespace)
    return decision.document === undefined ? [] : [found('GATEWAY_IDENTITY', decision, {
      message: `what comes through the gateway reaches ${namespace} with the identity of ${subject.values.istioNamespace}, also under its cluster-local name, whoever sent it`,
      cure: 'generate with --strict, which denies the gateway cluster-local names; check domain mappings first',
      row: 'g03',
    })]
  })
}

/** A policy can deny names with the ports it lists only: a pattern has one wildcard end. */
function gatewayPorts({ probes, ask, subject }: Asking, namespace: string): Finding[] {
  const decision = ask(probes.toWorkload(probes.gateway, namespace, { authority: `${localName(namespace, subject.values)}:9999` }))
  return !isAllowed(decision) || decision.document === undefined ? [] : [found('GATEWAY_IDENTITY', decision, {
    severity: 'info',
    message: `through the gateway, cluster-local names of ${namespace} stay open with a port other than 80, 443 and 8080, or with a trailing dot`,
    cure: 'let the gateway route no such host',
    row: 'g03',
  })]
}

function drainOpen({ probes, ask }: Asking, tenant: Tenant): Finding[] {
  const stranger = probes.identity('some-other-namespace', 'default')
  return tenant.namespaces.flatMap((namespace) => {
    const destination = { namespace, labels: {}, port: 8022 }
    const anyPath = ask(probes.toWorkload(stranger, namespace, { destination, path: '/other' }))
    const hook = ask(probes.toWorkload(stranger, namespace, { destination, path: '/wait-for-drain' }))
    const isOpen = isAllowed(anyPath) && anyPath.document !== undefined
    if (!isOpen && !(isAllowed(hook) && hook.document !== undefined)) return []
    return [found('DRAIN_OPEN', isOpen ? anyPath : hook, {
      severity: isOpen ? 'warning' : 'info',
      message: `every peer of the mesh may call ${isOpen ? 'any path' : 'GET /wait-for-drain'} on port 8022 in ${namespace}`,
      cure: isOpen ? 'generate with --strict, which leaves GET /wait-for-drain' : 'none in policies: the kubelet has no identity',
      row: 'p02',
    })]
  })
}

function systemIdentityWide({ probes, ask }: Asking, tenant: Tenant): Finding[] {
  const peer = probes.identity(EVENTING_NAMESPACE, 'any-other-account')
  return tenant.namespaces.flatMap((namespace) => {
    const decision = ask(probes.toWorkload(peer, namespace, { method: 'POST', headers: [['Kn-Namespace', namespace]] }))
    return !isAllowed(decision) || decision.document === undefined ? [] : [found('SYSTEM_IDENTITY_WIDE', decision, {
      message: `any identity of ${EVENTING_NAMESPACE} reaches ${namespace} with the header Kn-Namespace, not only those that deliver events`,
      cure: 'generate with --strict, which names the senders',
      row: 'v08',
    })]
  })
}

function activator({ probes, ask, subject }: Asking, tenant: Tenant): Finding[] {
  const [namespace = ''] = tenant.namespaces
  const peer = probes.identityOf(tenant)
  const plain = ask(probes.toActivator(peer, namespace))
  if (!isAllowed(plain) || plain.document === undefined) return []
  const headers = ask(probes.toActivator(peer, namespace, {
    headers: [['Knative-Serving-Namespace', 'another-tenant'], ['Knative-Serving-Revision', 'probe-00001']],
  }))
  const port = ask(probes.toActivator(peer, namespace, { authority: `${localName(namespace, subject.values)}:80` }))
  return [
    ...(isAllowed(headers) ? [found('ACTIVATOR_HEADERS', headers, {
      message: `"${tenant.name}" reaches revisions of other tenants: the activator routes by Knative-Serving-Namespace before Host, and the policy looks at Host only`,
      cure: 'generate with --strict, which denies the headers of others',
      row: 'a13',
    })] : []),
    ...(isAllowed(port) ? [] : [found('HOST_PORT', plain, {
      severity: 'info',
      message: `calls of "${tenant.name}" with a port in Host are denied at the activator`,
      cure: 'leave the port out of the URL; an exact host can be listed with ":*" too, a "*.namespace" pattern only with explicit ports',
      row: 'a09',
    })]),
  ]
}

/** Components of Knative Eventing that some policy selects. */
function receiverNames({ subject }: Asking): string[] {
  const names = subject.documents.filter((document) => atPointer(document, '/metadata/namespace') === EVENTING_NAMESPACE)
    .map((document) => atPointer(document, '/spec/selector/matchLabels/app.kubernetes.io~1component'))
  return [...new Set(names.filter((name): name is string => typeof name === 'string'))]
}

function receivers(asking: Asking, tenant: Tenant): Finding[] {
  const { probes, ask, subject } = asking
  const [namespace = ''] = tenant.namespaces
  const peer = probes.identityOf(tenant)
  const authority = localName(namespace, subject.values)
  return receiverNames(asking).flatMap((component) => {
    const foreign = ask(probes.toReceiver(peer, component, { authority, path: '/another-tenant/default' }))
    const own = { authority, path: `/${namespace}/default` }
    const byGet = ask(probes.toReceiver(peer, component, { ...own, method: 'GET' }))
    const byPath = ask(probes.toReceiver(peer, component, { path: own.path }))
    return [
      // Where paths count for nothing, the receiver reads the host, and another tenant's path says nothing.
      ...(isAllowed(foreign) && isAllowed(byPath) ? [found('HOST_PATH_OR', foreign, {
        message: `"${tenant.name}" reaches broker paths of other tenants at ${component} with a host of its own: hosts and paths are separate entries of "to"`,
        cure: 'generate with --strict, which allows paths or hosts, as the receiver reads them',
        row: 'e20',
      })] : []),
      ...(isAllowed(byGet) ? [found('NO_METHODS', byGet, {
        message: `${component} accepts every method from "${tenant.name}"`,
        cure: 'generate with --strict, which leaves POST and OPTIONS',
        row: 'e21',
      })] : []),
    ]
  })
}

/** Asks for every other tenant, and for a stranger, whether a rule lets it in. */
function foreignCallers({ probes, ask, subject }: Asking, tenant: Tenant): Finding[] {
  const others = subject.tenants.filter(({ name }) => name !== tenant.name).map((other): [string, string] => [`tenant "${other.name}"`, probes.identityOf(other)])
  const strangers: [string, string][] = [...others, ['any peer of the mesh', probes.identity('some-other-namespace', 'default')]]
  return tenant.namespaces.flatMap((namespace) => strangers.flatMap(([who, peer]) => {
    const calls: [string, Call][] = [
      ['workloads', probes.toWorkload(peer, namespace)],
      ['services behind the activator', probes.toActivator(peer, namespace)],
      ['brokers', probes.toReceiver(peer, 'broker-ingress', { path: `/${namespace}/default` })],
      ['channels', probes.toReceiver(peer, 'imc-dispatcher', { authority: localName(namespace, subject.values) })],
    ]
    return calls.flatMap(([what, call]) => {
      const decision = ask(call)
      // Without a document the default lets it in; that is the finding NO_DEFAULT_DENY.
      return !isAllowed(decision) || decision.document === undefined ? [] : [found('OVERLAP', decision, {
        severity: 'error',
        message: `${who} reaches ${what} of ${namespace} by rule ${String(decision.rule)}`,
        cure: 'remove the foreign namespace or the wildcard from the rule',
      })]
    })
  }))
}

function defaultDeny({ probes, ask, subject }: Asking): Finding[] {
  const stranger = probes.identity('some-other-namespace', 'default')
  const { serving, eventing } = subject.values
  const namespaces = [
    ...(serving.enabled ? [SERVING_NAMESPACE] : []),
    ...(eventing.enabled ? [EVENTING_NAMESPACE] : []),
    ...subject.tenants.flatMap((tenant) => tenant.namespaces),
  ]
  return namespaces.flatMap((namespace): Finding[] => {
    const destination = { namespace, labels: { 'example.com/probe': 'unselected' }, port: 8080 }
    const decision = ask(probes.toWorkload(stranger, namespace, { destination }))
    return !isAllowed(decision) || decision.document !== undefined ? [] : [{
      code: 'NO_DEFAULT_DENY',
      severity: 'error',
      message: `no policy selects all workloads of ${namespace}: what none selects is open to everyone`,
      cure: 'add deny-all-by-default (an AuthorizationPolicy with "spec: {}"), which sonatina policies generate --system makes',
    }]
  })
}
