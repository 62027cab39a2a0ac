import { expect } from 'chai'
import { findUnusedNames } from '../../../lib/configuration/index.ts'
import { read } from './support.ts'

describe('configuration/usage', () => {
  it('names documents and schemes that no definition uses, and those that are', async () => {
    const settings = await read({ 'application.properties': [
      'quarkus.rest-client.acme-financial-service_yml.url=http://a', 'quarkus.rest-client."multiplication.cluster1".url=http://b', 'sonatina.rest-client.config-key.separator=.',
      'quarkus.rest-client.acme_finacial_yml.url=http://c', 'quarkus.openapi-generator.codegen.spec.acme_yml.base-package=x', 'quarkus.oidc-client.acme-oauth.client-id=i', 'quarkus.oidc-client.gone.client-id=i',
    ].join('\n') })
    const messages = findUnusedNames(settings, { documents: ['acme_financial_service_yml', 'multiplication'], schemes: ['acme.oauth'] }).map(({ message }) => message)
    expect(messages).to.deep.equal([
      'No definition uses the document "acme_finacial_yml" of sonatina.rest-client.acme_finacial_yml.*; those used are acme_financial_service_yml, multiplication',
      'No definition uses the security scheme "gone" of sonatina.oidc-client.gone.*; those used are acme_oauth',
    ])
    expect(findUnusedNames(await read({}), { documents: [], schemes: [] })).to.deep.equal([])
  })
})
