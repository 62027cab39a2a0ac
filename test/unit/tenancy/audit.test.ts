import { expect } from 'chai'
import { audit, type AuditOptions } from '../../../lib/tenancy/audit.ts'
import type { AuthorizationPolicy } from '../../../lib/tenancy/types.ts'
import { documentsOf, TWO_TENANTS } from './support/tenants.ts'

const policy = (namespace: string, name: string, spec: object): AuthorizationPolicy => ({ apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name, namespace }, spec })
const codes = (documents: readonly unknown[], options: AuditOptions = {}): string[] => [...new Set(audit(documents, options).map(({ code, severity }) => `${severity} ${code}`))].sort()

describe('tenancy/audit', () => {
  const { inputs, documents } = documentsOf(TWO_TENANTS)

  it('finds the known gaps of the chart\'s documents, and no mistake, with tenants given or read off the documents', () => {
    const known = ['info HOST_PORT', 'warning ACTIVATOR_HEADERS', 'warning DRAIN_OPEN', 'warning GATEWAY_IDENTITY', 'warning HOST_PATH_OR', 'warning NO_METHODS', 'warning SYSTEM_IDENTITY_WIDE']
    expect(codes(documents, { inputs })).to.deep.equal(known)
    expect(codes(documents)).to.deep.equal(known)
  })

  it('finds what strict documents leave open only', () => {
    const strict = documentsOf(TWO_TENANTS, { strict: true })
    expect(codes(strict.documents, { inputs: strict.inputs })).to.deep.equal(['info DRAIN_OPEN', 'info GATEWAY_IDENTITY', 'info HOST_PORT'])
  })

  it('tells document, cure and the row of the matrix that shows the gap', () => {
    const [finding] = audit(documents, { inputs }).filter(({ code }) => code === 'HOST_PATH_OR')
    expect(finding).to.include({ document: 'knative-eventing/allow-team-alpha-to-imc', row: 'e20' })
    expect(finding?.cure).to.include('--strict')
  })

  it('finds unknown fields, null lists and other faults, and then asks about no call', () => {
    const bad = [
      policy('a', 'misspelt', { rules: [{ frm: [] }] }),
      policy('a', 'null', { rules: [{ from: [{ source: { namespaces: null } }] }] }),
      policy('a', 'port', { rules: [{ to: [{ operation: { ports: ['x'] } }] }] }),
    ]
    const found = codes([...documents, ...bad], { inputs })
    expect(found).to.include.members(['error UNKNOWN_FIELD', 'error EMPTY_LIST', 'error INVALID_DOCUMENT'])
    expect(found).to.not.include('warning GATEWAY_IDENTITY')
  })

  it('finds empty lists that mean any', () => {
    expect(codes([policy('a', 'p', { rules: [{ from: [{ source: { namespaces: ['a'], principals: [] } }] }] })])).to.include('error EMPTY_LIST')
  })

  it('finds rules for anyone', () => {
    expect(codes([policy('a', 'p', { rules: [{}] })])).to.include('error ALLOW_ALL')
    expect(codes([policy('a', 'p', { rules: [{ to: [{ operation: { methods: ['GET'] } }] }] })])).to.include('warning ALLOW_ALL')
    expect(codes([policy('a', 'p', { rules: [{ from: [{ source: { principals: ['*'] } }] }] })])).to.include('warning ALLOW_ALL')
    expect(codes([policy('a', 'p', { action: 'DENY', rules: [{}] })])).to.not.include('error ALLOW_ALL')
  })

  it('finds a missing default deny', () => {
    const without = documents.filter(({ metadata }) => metadata.name !== 'deny-all-by-default')
    const found = audit(without, { inputs }).filter(({ code }) => code === 'NO_DEFAULT_DENY').map(({ message }) => message)
    expect(found.join()).to.include('knative-serving').and.include('knative-eventing')
  })

  it('finds missing and extra documents when the tenants are given', () => {
    const extra = policy('team-alpha-1', 'hand-made', { rules: [{ from: [{ source: { namespaces: ['monitoring'] } }] }] })
    const found = audit([...documents.slice(0, -1), extra], { inputs })
    expect(found.find(({ code }) => code === 'MISSING_DOCUMENT')?.message).to.include('team-bravo-2/allow-wait-for-drain')
    expect(found.find(({ code }) => code === 'EXTRA_DOCUMENT')?.document).to.equal('team-alpha-1/hand-made')
  })

  it('finds overlaps: shared namespaces, doubled documents, rules that let another tenant in', () => {
    const shared = documentsOf({ tenants: [{ name: 'a', namespaces: ['x'] }] }).documents
    const other = documentsOf({ tenants: [{ name: 'b', namespaces: ['x', 'y'] }] }).documents.slice(11)
    expect(audit([...shared, ...other]).filter(({ code }) => code === 'OVERLAP').map(({ message }) => message).join('\n'))
      .to.include('the namespace "x" belongs to "a" and to "b"').and.include('is in the set twice').and.include('tenant "b" reaches workloads of x')
    const door = policy('team-alpha-1', 'door', { rules: [{ from: [{ source: { namespaces: ['team-bravo-*'] } }] }] })
    expect(audit([...documents, door], { inputs }).filter(({ code }) => code === 'OVERLAP').map(({ document }) => document)).to.deep.equal(['team-alpha-1/door'])
  })

  it('finds mutual TLS that is not strict, when there are documents about it', () => {
    const authentication = (namespace: string, mode: string): object => ({ apiVersion: 'security.istio.io/v1', kind: 'PeerAuthentication', metadata: { name: 'default', namespace }, spec: { mtls: { mode } } })
    expect(codes([...documents, authentication('istio-system', 'STRICT')], { inputs })).to.not.include('warning PERMISSIVE_MTLS')
    expect(codes([...documents, authentication('istio-system', 'PERMISSIVE')], { inputs })).to.include('warning PERMISSIVE_MTLS')
    expect(codes([...documents, authentication('istio-system', 'STRICT'), authentication('team-alpha-1', 'DISABLE')], { inputs })).to.include('warning PERMISSIVE_MTLS')
    expect(codes([...documents, authentication('team-alpha-1', 'STRICT')], { inputs })).to.include('warning PERMISSIVE_MTLS')
  })

  it('survives documents of any shape', () => {
    for (const odd of [null, 7, [], {}, { kind: 'AuthorizationPolicy' }, { kind: 'AuthorizationPolicy', metadata: { name: 'allow-x-to-activator', namespace: 'knative-serving' }, spec: { rules: [{ from: [{ source: 3 }] }] } }]) {
      expect(audit([odd]).length).to.be.greaterThan(0)
    }
  })
})
