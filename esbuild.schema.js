import Ajv from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { build } from 'esbuild'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Compiling our schema of definitions takes longer than all else at start: the bundle holds what it compiles to.

const SOURCE = 'lib/definition/schema/compile.ts'

/** Gives the module that stands for `lib/definition/schema/compile.ts` in the bundle, as JavaScript. */
export async function compiledSchema() {
  const folder = await mkdtemp(join('node_modules', '.schema-'))
  try {
    const file = join(folder, 'compile.mjs')
    const { outputFiles: [bundled] } = await build({ entryPoints: [SOURCE], bundle: true, write: false, platform: 'node', format: 'esm', packages: 'external', logLevel: 'warning' })
    await writeFile(file, bundled.contents)
    const { createSchemaCompiler, createSchemas } = await import(pathToFileURL(file).href)
    const ajv = createSchemaCompiler({ source: true, esm: true, formats: Ajv._`formats` })
    for (const [mode, schema] of Object.entries(createSchemas())) ajv.addSchema(schema, mode)
    const code = standaloneCode.default(ajv, { strict: 'strict', tolerant: 'tolerant' })
    return `import { formats } from './formats.ts'\n${code}\nexport function compileSchema(mode) { return mode === 'strict' ? strict : tolerant }\n`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Puts it there. @type {import('esbuild').Plugin} */
export const schemaCompiled = {
  name: 'schema-compiled',
  setup({ onLoad }) {
    onLoad({ filter: /lib\/definition\/schema\/compile\.ts$/ }, async ({ path }) => ({ contents: await compiledSchema(), loader: 'js', resolveDir: join(path, '..') }))
  },
}
