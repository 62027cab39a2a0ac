// The table of docs/how-it-works.md as rules; a test holds the two equal.
const { modules, families, free, doors } = require('./test/house/import-table.json')

const GUIDE = 'See the table of modules in docs/how-it-works.md.'
const names = Object.keys(modules)
const anyOf = (list) => (list.length === 0 ? '(?!)' : `(?:${list.join('|')})`)
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const expand = (packages) => packages.flatMap((name) => families[name] ?? [name])
const packageFolder = (list) => `(?:^|/)node_modules/(?:@types/)?${anyOf(list.map(escaped))}(?:/|$)`

const direction = names.map((name) => ({
  name: `direction-${name}`,
  severity: 'error',
  comment: `lib/${name} may import ${modules[name].imports.join(', ') || 'no other module'}. ${GUIDE}`,
  from: { path: `^lib/${name}/` },
  to: { path: '^lib/', pathNot: `^lib/${anyOf([name, ...modules[name].imports])}/` },
}))

const packages = names.map((name) => ({
  name: `packages-${name}`,
  severity: 'error',
  comment: `lib/${name} is no home of this package. ${GUIDE}`,
  from: { path: `^lib/${name}/` },
  to: { dependencyTypesNot: ['local', 'core'], path: 'node_modules', pathNot: packageFolder(expand(modules[name].packages)) },
}))

const pure = {
  name: 'pure-zone',
  severity: 'error',
  comment: 'Pure modules touch no file, socket, clock or environment; only load.ts and io.ts read. Hand the data in.',
  from: { path: `^lib/${anyOf(names.filter((name) => modules[name].pure))}/`, pathNot: '/(?:load|io)\\.ts$' },
  to: {
    dependencyTypes: ['core'],
    path: '^(?:node:)?(?:fs|fs/promises|net|tls|http|https|http2|dgram|dns|child_process|worker_threads|cluster|process|os|timers|timers/promises|readline)$',
  },
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...direction,
    ...packages,
    pure,
    {
      name: 'index-door',
      severity: 'error',
      comment: 'Enter another module by its index.ts; inside a module import the file itself.',
      from: { path: '^lib/([^/]+)/' },
      to: { path: '^lib/[^/]+/', pathNot: ['^lib/$1/', '^lib/[^/]+/index\\.ts$', '^lib/hosts/[^/]+/index\\.ts$'] },
    },
    {
      name: 'index-door-composition',
      severity: 'error',
      comment: 'Composition enters modules by their index.ts, like everybody else.',
      from: { path: `^lib/${anyOf(doors.map(escaped))}$` },
      to: { path: '^lib/[^/]+/', pathNot: ['^lib/[^/]+/index\\.ts$', '^lib/hosts/[^/]+/index\\.ts$'] },
    },
    {
      name: 'composition-is-above',
      severity: 'error',
      comment: 'Only the command line imports the composition (lib/index.ts, lib/runtime.ts).',
      from: { path: '^lib/[^/]+/', pathNot: `^lib/${anyOf(free)}/` },
      to: { path: `^lib/${anyOf(doors.map(escaped))}$` },
    },
    {
      name: 'nobody-imports-cli',
      severity: 'error',
      comment: 'The command line is the top: nothing imports it.',
      from: { path: '^lib/', pathNot: '^lib/cli/' },
      to: { path: '^lib/cli/' },
    },
    {
      name: 'host-siblings-apart',
      severity: 'error',
      comment: 'Hosts do not know each other; what they share stands in lib/hosts itself.',
      from: { path: '^lib/hosts/([^/]+)/' },
      to: { path: '^lib/hosts/[^/]+/', pathNot: '^lib/hosts/$1/' },
    },
    {
      name: 'lib-never-imports-test',
      severity: 'error',
      comment: 'The product does not depend on its tests or its sample workflows.',
      from: { path: '^lib/' },
      to: { path: '^(?:test|workflows)/' },
    },
    {
      name: 'no-cycle',
      severity: 'error',
      comment: 'No import cycle of values: all of a cycle has to be read to understand one file.',
      from: { path: '^(?:lib|test)/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'not-resolvable',
      severity: 'error',
      comment: 'The imported file or package does not exist.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(?:dist|coverage|\\.sonatina)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: 'specify',
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.cjs', '.mjs', '.json'], conditionNames: ['import', 'require', 'node', 'default', 'types'], exportsFields: ['exports'] },
  },
}
