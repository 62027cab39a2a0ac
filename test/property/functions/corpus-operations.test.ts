import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import { createOpenApiLibrary } from '../../../lib/functions/openapi/library.ts'
import type { OperationModel, ParameterModel } from '../../../lib/functions/openapi/model.ts'
import { listOperations, toOperationModel } from '../../../lib/functions/openapi/operation.ts'
import { buildBoth, type Case } from './reference.ts'

const corpus = path.resolve(process.cwd(), process.env['SONATINA_CORPUS'] ?? '../shared/corpus', 'workflows')

/** Documents of the corpus that say `openapi` or `swagger` at the top. */
async function openApiDocuments(): Promise<string[]> {
  const files = await readdir(corpus, { recursive: true })
  return files.filter((file) => /\.(json|ya?ml)$/.test(file) && !file.includes('cases/'))
    .map((file) => path.join(corpus, file))
    .filter((file) => /^\s*["']?(openapi|swagger)["']?\s*:\s*["']?\d/m.test(readFileSync(file, 'utf8')))
}

/** A value that the schema of a parameter would take. */
function exampleOf({ schema }: ParameterModel): Json {
  const { type, enum: values } = (schema === true ? {} : schema) as { type?: Json; enum?: readonly Json[] }
  if (Array.isArray(values)) return values[0] as Json
  if (type === 'integer' || type === 'number') return 7
  if (type === 'boolean') return true
  if (type === 'array') return ['a b', 'c,d']
  if (type === 'object') return { a: 1, b: 'x/y' }
  return 'x y/z'
}

function toCase(document: JsonObject, operation: OperationModel): Case {
  const parameters = operation.parameters.filter((parameter) => !['accept', 'content-type', 'authorization'].includes(parameter.name.toLowerCase()))
  const only = listOperations(document).find((found) => found.operationId === operation.operationId)!
  const paths = { [only.path]: { ...only.pathItem, ...Object.fromEntries(['get', 'put', 'post', 'delete', 'patch'].map((method) => [method, undefined])), [only.method]: only.operation } }
  const body = operation.version === 3 && operation.body?.kind === 'json' ? { mediaType: operation.body.mediaType, value: { any: 'thing', n: [1, 2] } } : undefined
  return {
    document: JSON.parse(JSON.stringify({ ...document, paths })) as JsonObject,
    args: Object.fromEntries(parameters.map((parameter) => [parameter.name, exampleOf(parameter)])),
    ...(body !== undefined && { body }),
  }
}

describe('documents of the corpus', function () {
  this.timeout(60_000)

  before(function () {
    if (existsSync(corpus)) return
    process.stdout.write(`SKIPPED: ${corpus} is missing; 1 suite did not run\n`)
    this.skip()
  })

  it('all load, and every operation builds the request that swagger-client builds', async () => {
    const library = createOpenApiLibrary()
    let operations = 0
    let compared = 0
    for (const file of await openApiDocuments()) {
      const scope = { base: file, root: path.dirname(file), extensions: [], remote: false }
      const { resolved } = await library.load(path.basename(file), scope, () => Promise.reject(new Error('no document of the corpus is remote')))
      for (const found of listOperations(resolved.document)) {
        operations += 1
        const both = buildBoth(toCase(resolved.document, toOperationModel(resolved, found)))
        if (both === undefined) continue
        compared += 1
        expect(both.ours, `${file} ${found.operationId}`).to.deep.equal(both.reference)
      }
    }
    expect(operations).to.be.greaterThan(60)
    expect(compared / operations).to.be.greaterThan(0.9)
  })
})
