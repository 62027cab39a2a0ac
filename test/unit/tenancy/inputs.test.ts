import { expect } from 'chai'
import { TenancyError } from '../../../lib/errors/index.ts'
import { resolveInputs, type InputOptions } from '../../../lib/tenancy/inputs.ts'

function refusal(value: unknown, options: InputOptions = {}): string {
  try {
    resolveInputs(value, 'tenants.yaml', options)
    return ''
  } catch (error) {
    expect(TenancyError.is(error)).to.equal(true)
    return (error as TenancyError).message
  }
}

const tenant = (namespaces: unknown, more: object = {}): object => ({ name: 'team', namespaces, ...more })

describe('tenancy/inputs', () => {
  it('fills in the defaults of the chart', () => {
    const { tenants, values } = resolveInputs(tenant(['a']), 'test')
    expect(tenants).to.deep.equal([{ name: 'team', namespaces: ['a'] }])
    expect(values.istioNamespace).to.equal('istio-system')
    expect(values.eventing.receivers.map(({ shortName }) => shortName)).to.deep.equal(['imc', 'ekb', 'ekc', 'eks', 'broker-ingress', 'job-sink'])
    expect(values.eventing.senders).to.have.length(6)
  })

  const refused: [what: string, value: unknown, reason: RegExp][] = [
    ['no namespaces', { name: 'team' }, /"namespaces" is missing/],
    ['empty namespaces', tenant([]), /\/namespaces: the list is empty .*reads as "any"/],
    ['null namespaces', tenant(null), /\/namespaces: null is given/],
    ['a wildcard', tenant(['*']), /"\*" is not an RFC 1123 label/],
    ['a wildcard inside', tenant(['team-*']), /"team-\*" is not an RFC 1123 label/],
    ['upper case', tenant(['A']), /"A" is not an RFC 1123 label/],
    ['a blank', tenant(['']), /"" is not an RFC 1123 label/],
    ['white space', tenant([' a']), /" a" is not an RFC 1123 label/],
    ['a number', tenant([7]), /\/namespaces\/0: must be string/],
    ['a duplicate', tenant(['a', 'b', 'a']), /"a" is listed twice/],
    ['a namespace of 64 characters', tenant(['a'.repeat(64)]), /is not an RFC 1123 label/],
    ['a name of 64 characters', { name: 'a'.repeat(64), namespaces: ['a'] }, /\/name: "a+…? is not an RFC 1123 label|\/name: "a+" is not an RFC 1123 label/],
    ['a name with a dot', { name: 'a.b', namespaces: ['a'] }, /\/name: "a\.b" is not/],
    ['knative-serving', tenant(['knative-serving']), /platform's own/],
    ['knative-serving-ingress', tenant(['knative-serving-ingress']), /platform's own/],
    ['knative-eventing', tenant(['knative-eventing']), /platform's own/],
    ['the mesh\'s namespace', tenant(['mesh'], { istioNamespace: 'mesh' }), /"mesh" is the platform's own/],
    ['kube-system', tenant(['kube-system']), /belongs to the platform.*--allow-platform-namespaces/],
    ['a misspelt field', tenant(['a'], { istioNamspace: 'x' }), /unknown field "istioNamspace" .*did you mean "istioNamespace"/],
    ['a misspelt field inside', tenant(['a'], { eventing: { enable: true } }), /\/eventing\/enable: unknown field.*did you mean "enabled"/],
    ['both parts disabled', tenant(['a'], { serving: { enabled: false }, eventing: { enabled: false } }), /both disabled.*nothing would isolate/],
    ['equal short names', tenant(['a'], { eventing: { receivers: [{ name: 'x', shortName: 's' }, { name: 'y', shortName: 's' }] } }), /two entries have the same shortName "s"/],
    ['empty receivers', tenant(['a'], { eventing: { receivers: [] } }), /\/eventing\/receivers: the list is empty/],
    ['equal tenants', { tenants: [{ name: 'a', namespaces: ['x'] }, { name: 'a', namespaces: ['y'] }] }, /\/tenants\/1\/name: the tenant name "a" is used twice/],
    ['another tenant\'s namespace', { tenants: [{ name: 'a', namespaces: ['x'] }, { name: 'b', namespaces: ['y', 'x'] }] }, /\/tenants\/1\/namespaces\/1: the namespace "x" already belongs to tenant "a"/],
    ['no tenants', { tenants: [] }, /\/tenants: the list is empty/],
    ['a text', 'team', /must be object/],
    ['nothing', null, /null is given/],
  ]
  for (const [what, value, reason] of refused) it(`refuses ${what}, with the reason`, () => expect(refusal(value)).to.match(reason))

  it('names all reasons at once, with the file', () => {
    expect(refusal(tenant(['A', '*']))).to.match(/^tenants\.yaml: .*"A".*; .*"\*"/)
  })

  it('lets tenants own platform namespaces when asked to', () => {
    expect(refusal(tenant(['openshift-apps']), { allowPlatformNamespaces: true })).to.equal('')
    expect(refusal(tenant(['openshift-apps']))).to.not.equal('')
  })

  it('knows the releases of the chart by several spellings', () => {
    const version = (chartVersion: string): string => resolveInputs(tenant(['a']), 'test', { chartVersion }).values.chartVersion
    expect(['main', '1.36', 'release-1.36', '1.35', 'release-1.35', '1.34.2', '1.33', '1.31'].map(version)).to.deep.equal(['main', 'main', 'main', '1.35', '1.35', '1.31', '1.31', '1.31'])
    for (const unknown of ['1.30', '2.0', 'latest', '']) expect(refusal(tenant(['a']), { chartVersion: unknown })).to.match(/is not known .*known: main/)
  })
})
