import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { validateDocument } from '../../../lib/tenancy/validate.ts'
import { failed, listFiles, readObjects, type Check, type Verdict } from './files.ts'
import { createRandom, pick, type Random } from './random-calls.ts'

const MUTATIONS = 3000

const PEER_AUTHENTICATION = {
  apiVersion: 'security.istio.io/v1',
  kind: 'PeerAuthentication',
  metadata: { name: 'default', namespace: 'istio-system' },
  spec: { selector: { matchLabels: { app: 'a' } }, mtls: { mode: 'STRICT' }, portLevelMtls: { 8080: { mode: 'DISABLE' } } },
}

/**
 * Checks our schemas against the published ones of `crd/`: what these accept unchanged ours accept, and what they refuse ours refuse, on
 * documents of the folder and random damage done to them. Ours may refuse more: unknown fields, and the rules in CEL.
 */
export async function crdChecks(folder: string): Promise<Check[]> {
  const files = await listFiles(join(folder, 'crd'), /\.json$/)
  return files.map((file) => ({
    id: `crd/${file}`,
    feature: 'document schemas',
    async run() {
      const schema = JSON.parse(await readFile(join(folder, 'crd', file), 'utf8')) as object
      const samples = file.startsWith('peerauthentications') ? [PEER_AUTHENTICATION] : await policySamples(folder)
      return judge(schema, samples)
    },
  }))
}

async function policySamples(folder: string): Promise<object[]> {
  const found: object[] = []
  for (const group of ['builder/http', 'builder/tcp', 'validation']) {
    for (const file of await listFiles(join(folder, group), /(-in|valid|dataset.*)\.ya?ml$/)) {
      const documents = (await readObjects(folder, group, file)).map(({ value }) => value)
      found.push(...documents.filter((value) => value['kind'] === 'AuthorizationPolicy' && value['_err'] === undefined))
    }
  }
  return found
}

function judge(schema: object, samples: readonly object[]): Verdict {
  const published = new Ajv({ strict: false, formats: { 'date-time': true } }).compile(schema)
  for (const sample of samples) {
    if (!published(sample)) return failed(`the published schema refuses a sample: ${JSON.stringify(published.errors)}`)
    const [fault] = validateDocument(sample)
    if (fault !== undefined) return failed(`refused: ${fault.pointer}: ${fault.message} in ${JSON.stringify(sample)}`)
  }
  const random = createRandom(3)
  let refused = 0
  for (let count = 0; count < MUTATIONS; count += 1) {
    const damaged = damage(pick(random, samples), random)
    if (published(damaged)) continue
    refused += 1
    if (validateDocument(damaged).length === 0) return failed(`accepted, but the published schema refuses it: ${JSON.stringify(damaged)}`)
  }
  return { outcome: 'passed', reason: `${String(samples.length)} samples, ${String(refused)} damaged ones refused by both` }
}

const WRONG: readonly unknown[] = [7, true, null, 'x', [], {}, ['x'], [7], [{}], { a: 1 }, 'x'.repeat(400)]

function damage(sample: object, random: Random): unknown {
  const copy = structuredClone(sample) as Record<string, unknown>
  let place: Record<string, unknown> = copy
  for (;;) {
    const inner = Object.keys(place).filter((key) => typeof place[key] === 'object' && place[key] !== null && key !== 'metadata')
    if (inner.length === 0 || random() < 0.2) break
    place = place[pick(random, inner)] as Record<string, unknown>
  }
  const keys = Object.keys(place).filter((key) => !['kind', 'apiVersion', 'metadata'].includes(key))
  if (keys.length > 0) place[pick(random, keys)] = pick(random, WRONG)
  return copy
}
