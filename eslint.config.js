import tseslint from 'typescript-eslint'

// The house rules of docs/how-it-works.md that a linter can see. Style itself (quotes, indentation) is left to the writer.

const ERROR_CLASSES = [
  'ConfigurationError', 'DataInputError', 'DefinitionError', 'EventError', 'ExpressionError',
  'FunctionError', 'HostError', 'InstanceError', 'RequestError', 'TenancyError',
]

const ENGINE_SIGNALS = ['JqError', 'LimitExceeded', 'ProgramFailure', 'RegexFault', 'SyntaxFault']

const NO_EXPORT_ALL = {
  selector: 'ExportAllDeclaration',
  message: 'Name what you export: `export *` hides the surface of a module.',
}
const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Use a named export: a default export is renamed at every import and cannot be searched for.',
}
const throwOnly = (classes) => [
  {
    selector: `ThrowStatement > NewExpression:not([callee.name=/^(${classes.join('|')})$/])`,
    message: 'Throw one of the classes of lib/errors with a code of its table: callers and HTTP statuses rely on it.',
  },
  {
    selector: 'CallExpression[callee.object.name="Promise"][callee.property.name="reject"] > '
      + `NewExpression:not([callee.name=/^(${classes.join('|')})$/])`,
    message: 'Reject with one of the classes of lib/errors with a code of its table.',
  },
]
const NO_ENVIRONMENT = [
  {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'Only lib/configuration reads the environment; take the value from the settings.',
  },
  {
    selector: 'ImportDeclaration[source.value=/^(node:)?process$/] > ImportSpecifier[imported.name="env"]',
    message: 'Only lib/configuration reads the environment; take the value from the settings.',
  },
]
const USE_CLOCK = 'Take time from the injected Clock and randomness from the IdSource (lib/common), so that tests and replays can move them.'
const NO_AMBIENT_TIME = [
  { selector: 'CallExpression[callee.name=/^(setTimeout|setInterval)$/]', message: USE_CLOCK },
  { selector: 'MemberExpression[object.name="Date"][property.name="now"]', message: USE_CLOCK },
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: USE_CLOCK },
  { selector: 'CallExpression[callee.name="Date"]', message: USE_CLOCK },
  { selector: 'MemberExpression[object.name="Math"][property.name="random"]', message: USE_CLOCK },
  { selector: 'MemberExpression[object.name="performance"][property.name="now"]', message: USE_CLOCK },
  { selector: 'MemberExpression[object.name="process"][property.name="hrtime"]', message: USE_CLOCK },
  { selector: 'MemberExpression[property.name="randomUUID"]', message: USE_CLOCK },
  { selector: 'ImportSpecifier[imported.name="randomUUID"]', message: USE_CLOCK },
  { selector: 'ImportDeclaration[source.value=/^(node:)?timers(\\u002Fpromises)?$/]', message: USE_CLOCK },
]

const HOUSE = [NO_EXPORT_ALL, NO_DEFAULT_EXPORT]
const LIB = [...HOUSE, ...throwOnly(ERROR_CLASSES)]
const restricted = (selectors) => ({ 'no-restricted-syntax': ['error', ...selectors] })

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', 'coverage/', '.sonatina/', 'test/fixtures/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // A test on a literal union member that the compiler knows is a reading aid, e.g. in a last `else if`.
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      // Code points are what texts are counted in here.
      '@typescript-eslint/no-misused-spread': ['error', { allow: [{ from: 'lib', name: 'string' }, 'string'] }],
      'no-console': 'error',
      semi: ['error', 'never'],
      'max-lines': ['warn', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['warn', { max: 50, skipBlankLines: true, skipComments: true }],
      'max-depth': ['warn', 3],
      'max-params': ['warn', 3],
      // A flat, exhaustive switch over kinds is one decision, however many kinds there are.
      complexity: ['warn', { max: 12, variant: 'modified' }],
      ...restricted(HOUSE),
    },
  },
  { files: ['lib/**/*.ts'], rules: restricted([...LIB, ...NO_ENVIRONMENT, ...NO_AMBIENT_TIME]) },
  { files: ['lib/configuration/**/*.ts'], rules: restricted([...LIB, ...NO_AMBIENT_TIME]) },
  { files: ['lib/common/**/*.ts'], rules: restricted([...LIB, ...NO_ENVIRONMENT]) },
  // Inside the engines faults travel as light signals with a position; the border of the module makes ExpressionErrors of them.
  { files: ['lib/expressions/**/*.ts'], rules: restricted([...HOUSE, ...throwOnly([...ERROR_CLASSES, ...ENGINE_SIGNALS]), ...NO_ENVIRONMENT, ...NO_AMBIENT_TIME]) },
  // The inner loops of the engines hand over value by value what changes with each step: an object would be made a million times.
  { files: ['lib/expressions/jq/**/*.ts', 'lib/expressions/regex/**/*.ts', 'lib/instance/loop/**/*.ts'], rules: { 'max-params': ['warn', 5] } },
  // Runs in the browser, where the clock of the process does not reach.
  { files: ['lib/inspector/page/**/*.ts'], rules: restricted(LIB) },
  { files: ['lib/cli/**/*.ts', 'lib/dev-services/**/*.ts', 'test/**/main.ts', 'test/bench/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['test/**/*.ts'],
    rules: {
      // chai states expectations as property reads; suites are long lists; a failing `!` is a failing test.
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-base-to-string': 'off',
      'max-lines-per-function': 'off',
    },
  },
  {
    files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
    rules: { semi: ['error', 'never'] },
  },
)
