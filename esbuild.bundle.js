import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { build } from 'esbuild'
import { schemaCompiled } from './esbuild.schema.js'

/**
 * Bundles the product into dist/, for `npm start` and for publishing: a few files load several times as fast as hundreds.
 *
 * @param {object} options
 * @param {readonly string[]} options.inside packages to bundle too; the others stay outside
 * @param {boolean} options.isRelease with source maps, and with the validator of definitions compiled: one start would not earn them back
 */
export async function bundle({ inside, isRelease }) {
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
    sourcemap: isRelease,
    sourcesContent: false,
    // The licences of what is bundled go along.
    legalComments: 'linked',
    plugins: [await packagesOutside(inside), ...(isRelease ? [schemaCompiled] : [])],
    // What is bundled from CommonJS asks for modules of Node.js by require.
    banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
    logLevel: 'warning',
  })
  // Chunks look for the page beside themselves.
  await cp('lib/inspector/page', 'dist/lib/page', { recursive: true })
}

/**
 * @param {readonly string[]} inside
 * @returns {Promise<import('esbuild').Plugin>}
 */
async function packagesOutside(inside) {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  const outside = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !inside.includes(name))
  // Each call of a plugin goes to another process and back: only our packages are asked about, not all that the bundled ones import.
  const filter = new RegExp(`^(?:${outside.map((name) => name.replace('.', '\\.')).join('|')})(?:/|$)`)
  return {
    name: 'packages-outside',
    setup({ onResolve }) {
      // A bundled package has its own version of what we have too.
      onResolve({ filter }, ({ path, importer }) => importer.includes('/node_modules/') ? undefined : { path, external: true })
    },
  }
}
