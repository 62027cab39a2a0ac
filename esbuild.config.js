import { cp, readdir, rm } from 'node:fs/promises'
import { build } from 'esbuild'
import { schemaCompiled } from './esbuild.schema.js'

// Bundles the product into dist/, for `npm start` and for publishing: a few files load several times as fast as hundreds. With --quick
// it does not compile beforehand what one start would not earn back.

// Packages stay outside, but for two that are themselves hundreds of files: of rest functions, and of dev services.
const BUNDLED = new Set(['swagger-client', 'oidc-provider'])

/** @type {import('esbuild').Plugin} */
const packagesOutside = {
  name: 'packages-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
      const isOurs = !importer.includes('/node_modules/')
      return isOurs && importer !== '' && !BUNDLED.has(path) ? { path, external: true } : undefined
    })
  },
}

const hosts = (await readdir('workflows')).filter((file) => file.endsWith('.ts')).map((file) => `workflows/${file}`)
await rm('dist', { recursive: true, force: true })
await build({
  entryPoints: ['lib/index.ts', 'lib/cli/main.ts', ...hosts],
  outbase: '.',
  outdir: 'dist',
  chunkNames: 'lib/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: true,
  sourcesContent: false,
  // The licences of what is bundled go along.
  legalComments: 'linked',
  plugins: process.argv.includes('--quick') ? [packagesOutside] : [packagesOutside, schemaCompiled],
  // What is bundled from CommonJS asks for modules of Node.js by require.
  banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
  logLevel: 'warning',
})
// Chunks look for the page beside themselves.
await cp('lib/inspector/page', 'dist/lib/page', { recursive: true })
