import { expect } from 'chai'
import { parseDocuments } from '../../../lib/tenancy/documents.ts'
import { evaluate } from '../../../lib/tenancy/evaluate.ts'
import { describeViolation, validateDocument, validateLoaded } from '../../../lib/tenancy/validate.ts'

const policy = (spec: unknown, more: object = {}): object => ({ apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata: { name: 'p', namespace: 'n' }, spec, ...more })
const rule = (...rules: unknown[]): object => policy({ rules })
const faults = (document: unknown): string[] => validateDocument(document).map(({ pointer, message, hint }) => `${pointer}: ${message}${hint === undefined ? '' : ` (${hint})`}`)

describe('tenancy/validate', () => {
  it('accepts policies as they are written, and objects of other kinds', () => {
    for (const spec of [{}, undefined, { rules: [] }, { rules: [{}] }, { action: 'DENY', rules: [{ to: [{ operation: { paths: ['/a/{*}/b/{**}'] } }] }] }]) expect(faults(policy(spec))).to.deep.equal([])
    expect(faults({ kind: 'Service', anything: true })).to.deep.equal([])
  })

  const invalid: [what: string, document: unknown, fault: RegExp][] = [
    ['a misspelt from', rule({ frm: [] }), /^\/spec\/rules\/0\/frm: unknown field "frm" \(did you mean "from"\?\)/],
    ['a misspelt namespaces', rule({ from: [{ source: { namespace: ['a'], principals: ['b'] } }] }), /unknown field "namespace" \(did you mean "namespaces"/],
    ['a misspelt rules', policy({ rule: [] }), /\/spec\/rule: unknown field "rule" \(did you mean "rules"/],
    ['a misspelt namespace of metadata', { ...policy({}), metadata: { name: 'p', namespce: 'n' } }, /\/metadata\/namespce: .*did you mean "namespace"/],
    ['an unknown action', policy({ action: 'DENNY', rules: [{}] }), /\/spec\/action: "DENNY" is not allowed here \(did you mean "DENY"/],
    ['an unknown version', { ...policy({}), apiVersion: 'security.istio.io/v2' }, /\/apiVersion/],
    ['no name', { ...policy({}), metadata: {} }, /"name" is missing/],
    ['a null list', rule({ from: [{ source: { namespaces: null } }] }), /namespaces: null is given where array is expected .*means any/],
    ['an empty from', rule({ from: [] }), /\/from: from cannot be empty/],
    ['an empty source', rule({ from: [{ source: {} }] }), /source must have at least one field/],
    ['a source of empty lists', rule({ from: [{ source: { namespaces: [] } }] }), /source must have at least one field/],
    ['a missing source', rule({ from: [{}] }), /source must have at least one field/],
    ['an empty operation', rule({ to: [{ operation: {} }] }), /operation must have at least one field/],
    ['an empty text', rule({ from: [{ source: { namespaces: [''] } }] }), /\/namespaces\/0: empty value not allowed/],
    ['a bad port', rule({ to: [{ operation: { ports: ['99999'] } }] }), /\/ports\/0: bad port "99999"/],
    ['a numeric port', rule({ to: [{ operation: { ports: [8022] } }] }), /\/ports\/0: must be string/],
    ['a bad address', rule({ from: [{ source: { ipBlocks: ['1.2.3'] } }] }), /neither an IP address nor a CIDR range/],
    ['a bad range', rule({ from: [{ source: { ipBlocks: ['1.2.3.4/33'] } }] }), /neither an IP address/],
    ['an unknown key', rule({ when: [{ key: 'request.header[x]', values: ['a'] }] }), /unknown attribute "request.header\[x\]" \(did you mean "request.headers\[\]"/],
    ['a key without its brackets', rule({ when: [{ key: 'request.headers', values: ['a'] }] }), /unknown attribute/],
    ['an empty key', rule({ when: [{ key: '', values: ['a'] }] }), /key must not be empty/],
    ['a condition without values', rule({ when: [{ key: 'source.ip' }] }), /at least one of values or notValues/],
    ['a condition with a bad port', rule({ when: [{ key: 'destination.port', values: ['x'] }] }), /bad port "x"/],
    ['a path template with a name', rule({ to: [{ operation: { paths: ['/{*}/{name}'] } }] }), /invalid or unsupported path template/],
    ['a path template with a star', rule({ to: [{ operation: { paths: ['/{**}/*'] } }] }), /invalid or unsupported path template/],
    ['service accounts with namespaces', rule({ from: [{ source: { serviceAccounts: ['a/b'], namespaces: ['a'] } }] }), /Cannot set serviceAccounts with namespaces or principals/],
    ['a malformed service account', rule({ from: [{ source: { serviceAccounts: ['a/b/c'] } }] }), /bad service account "a\/b\/c"/],
    ['17 service accounts', rule({ from: [{ source: { serviceAccounts: Array.from({ length: 17 }, (_, index) => `s${String(index)}`) } }] }), /must NOT have more than 16 items/],
    ['DENY without rules', policy({ action: 'DENY' }), /DENY action without rules/],
    ['CUSTOM without a provider', policy({ action: 'CUSTOM', rules: [{}] }), /provider.name must not be empty/],
    ['a provider without CUSTOM', policy({ provider: { name: 'x' } }), /provider must not be set/],
    ['a selector with targetRefs', policy({ selector: {}, targetRefs: [{ kind: 'Gateway', name: 'g' }] }), /only one of targetRefs or selector can be set/],
    ['a target in another namespace', policy({ targetRefs: [{ kind: 'Gateway', name: 'g', namespace: 'x' }] }), /cross namespace referencing/],
    ['a wildcard label', policy({ selector: { matchLabels: { app: 'a*' } } }), /wildcard not allowed in label value match/],
    ['a wildcard label key', policy({ selector: { matchLabels: { 'a*': 'a' } } }), /wildcard not allowed in label key match/],
    ['an empty label key', policy({ selector: { matchLabels: { '': 'a' } } }), /key must not be empty/],
    ['a text for rules', policy({ rules: 'all' }), /\/spec\/rules: must be array/],
    ['an object without kind', { metadata: {} }, /\/kind/],
    ['no object', 7, /Kubernetes object/],
    ['port-level mTLS without a selector', { apiVersion: 'security.istio.io/v1', kind: 'PeerAuthentication', metadata: { name: 'p' }, spec: { portLevelMtls: { 8080: { mode: 'STRICT' } } } }, /portLevelMtls requires selector/],
    ['port-level mTLS of port 0', { apiVersion: 'security.istio.io/v1', kind: 'PeerAuthentication', metadata: { name: 'p' }, spec: { selector: { matchLabels: { a: 'b' } }, portLevelMtls: { 0: {} } } }, /port must be between 1-65535/],
  ]
  for (const [what, document, fault] of invalid) {
    it(`refuses ${what}, naming the field`, () => {
      expect(faults(document).join('\n')).to.match(new RegExp(fault.source, 'm'))
      // What is invalid is never half evaluated.
      const other = document as { kind?: string }
      if (other.kind === 'AuthorizationPolicy') {
        expect(() => evaluate([document], { destination: { namespace: 'n', labels: {}, port: 1 }, protocol: 'tcp' })).to.throw().with.property('code', 'TENANCY_INVALID')
      }
    })
  }

  it('tells file, line and document', () => {
    const { documents } = parseDocuments('kind: AuthorizationPolicy\napiVersion: security.istio.io/v1\nmetadata:\n  name: p\nspec:\n  rules:\n    - frm: []\n', 'policies/p.yaml')
    expect(validateLoaded(documents).map(describeViolation)).to.deep.equal(['policies/p.yaml:7: document default/p at /spec/rules/0/frm: unknown field "frm"; did you mean "from"?'])
  })
})
