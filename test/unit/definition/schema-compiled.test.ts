import { expect } from 'chai'
import { build, type Plugin } from 'esbuild'
import fc from 'fast-check'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Json, JsonObject } from '../../../lib/common/index.ts'
import { lint, validate } from '../../../lib/definition/index.ts'
import type * as Definition from '../../../lib/definition/index.ts'
import { placesOf } from './support/places.ts'

// Configuration of a tool, in JavaScript.
const { schemaCompiled } = await import(new URL('../../../esbuild.schema.js', import.meta.url).href) as { schemaCompiled: Plugin }
const root = fileURLToPath(new URL('../../..', import.meta.url))
const documents = readdirSync(join(root, 'workflows')).filter((file) => file.endsWith('.sw.json')).map((file) => JSON.parse(readFileSync(join(root, 'workflows', file), 'utf8')) as Json)

describe('definition schema, compiled for the bundle', () => {
  it('finds what the schema finds', async function () {
    this.timeout(30_000)
    // Inside of the repository, for what is bundled asks for its packages.
    await mkdir(join(root, 'node_modules/.cache'), { recursive: true })
    const folder = await mkdtemp(join(root, 'node_modules/.cache/schema-'))
    try {
      const outfile = join(folder, 'definition.mjs')
      await build({
        entryPoints: [join(root, 'lib/definition/index.ts')],
        absWorkingDir: root,
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        packages: 'external',
        plugins: [schemaCompiled],
        banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
      })
      expect(readFileSync(outfile, 'utf8')).to.not.include('new Ajv2020({ allErrors: true')
      const bundled = await import(pathToFileURL(outfile).href) as typeof Definition
      const pieces = documents.flatMap((document) => placesOf(document).map(({ holder, key }) => holder[key] as Json))
      fc.assert(fc.property(fc.constantFrom(...documents), fc.nat(), fc.constantFrom(...pieces, '', 1, true, null, [], {}), (document, at, value) => {
        const copy = structuredClone(document)
        const places = placesOf(copy)
        const { holder, key } = places[at % places.length] as { holder: Record<string, Json>; key: string }
        holder[key] = value
        const found = validate(copy)
        expect(bundled.validate(copy)).to.deep.equal(found)
        if (found.length === 0) expect(bundled.lint(copy as JsonObject)).to.deep.equal(lint(copy as JsonObject))
      }), { numRuns: 500 })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})
