import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as Product from '../../../lib/index.ts'
import { chain, parallel } from '../definitions.ts'

// The product as it is published: compiled, with default settings, all definitions of the bench served at once.

const product = new URL('../../../dist/lib/index.js', import.meta.url).href
const { createRuntime, silentLogger } = await import(product) as typeof Product
const root = new URL('../../..', import.meta.url).pathname
const stub = process.env['BENCH_STUB']
const store = process.env['BENCH_STORE'] ?? 'memory'

const runtime = await createRuntime({
  root,
  definitions: [
    { uri: join(root, 'workflows/chain.sw.json'), document: chain },
    { uri: join(root, 'workflows/parallel-bench.sw.json'), document: parallel },
    join(root, 'workflows/currency_exchange_workflow.sw.json'),
  ],
  environment: {},
  profile: 'prod',
  log: silentLogger,
  loop: process.env['BENCH_LOOP'] === 'stock' ? 'stock' : 'fast',
  settings: {
    'sonatina.store': store,
    'sonatina.host-classes': join(root, 'dist/workflows/exchange-workflow-helper.js'),
    ...(store === 'memory' ? {} : { 'sonatina.store.sqlite.file': join(await mkdtemp(join(tmpdir(), 'sonatina-bench-')), 'store.db') }),
    ...(stub === undefined ? {} : {
      'sonatina.rest-client.acme_financial_service_yml.url': stub,
      'sonatina.oidc-client.acme_financial_oauth.discovery-enabled': 'false',
      'sonatina.oidc-client.acme_financial_oauth.token-path': `${stub}/token`,
      'sonatina.oidc-client.acme_financial_oauth.client-id': 'bench',
      'sonatina.oidc-client.acme_financial_oauth.credentials.client-secret.value': 'bench',
    }),
  },
})
const { url } = await runtime.listen({ port: 0 })
process.send?.({ url })
