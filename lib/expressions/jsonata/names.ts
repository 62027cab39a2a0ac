import { nearestNames } from '../../common/index.ts'
import { adviseVariable } from '../advise-variable.ts'
import type { LanguageOptions } from '../language-options.ts'
import { SyntaxFault } from '../syntax-fault.ts'
import type { FunctionUse, Names, VariableUse } from './variables.ts'

/** Functions of the library. */
export const BUILTINS: ReadonlySet<string> = new Set([
  'sum', 'count', 'max', 'min', 'average', 'string', 'substring', 'substringBefore', 'substringAfter', 'lowercase', 'uppercase',
  'length', 'trim', 'pad', 'match', 'contains', 'replace', 'split', 'join', 'formatNumber', 'formatBase', 'formatInteger',
  'parseInteger', 'number', 'floor', 'ceil', 'round', 'abs', 'sqrt', 'power', 'random', 'boolean', 'not', 'map', 'zip', 'filter',
  'single', 'reduce', 'sift', 'keys', 'lookup', 'append', 'exists', 'spread', 'merge', 'reverse', 'each', 'error', 'assert', 'type',
  'sort', 'shuffle', 'distinct', 'base64encode', 'base64decode', 'encodeUrlComponent', 'encodeUrl', 'decodeUrlComponent', 'decodeUrl', 'eval', 'toMillis',
  'fromMillis', 'clone', 'now', 'millis',
])

/**
 * Checks that what a program reads and calls exists; the library itself takes an unknown variable for "nothing", which hides typing
 * errors.
 *
 * @throws {@link SyntaxFault} for an unknown variable or function, and for misuse of secrets.
 */
export function checkNames(names: Names, options: LanguageOptions): void {
  for (const call of names.calls) checkCall(call, names, options)
  for (const use of names.variables) {
    if (!names.bound.has(use.name) && !BUILTINS.has(use.name)) checkVariable(use, names, options)
  }
}

function checkCall({ name, offset }: FunctionUse, { bound }: Names, { variables: known }: LanguageOptions): void {
  if (known === undefined || BUILTINS.has(name) || bound.has(name) || known.includes(name)) return
  const [close] = nearestNames(name, [...BUILTINS, ...bound])
  const hint = close === undefined ? `define it before it is called: $${name} := function($a) { … }` : `did you mean $${close}?`
  throw new SyntaxFault(`$${name} is not defined`, offset, hint)
}

function checkVariable({ name, keys, secret, offset }: VariableUse, { bound }: Names, { variables: known, onVariable, onSecret }: LanguageOptions): void {
  if (known !== undefined && !known.includes(name)) {
    throw new SyntaxFault(`$${name} is not defined`, offset, adviseVariable(name, [...bound, ...known].map((candidate) => `$${candidate}`)))
  }
  onVariable(name)
  if (!secret) return
  if (keys.length === 0) throw new SyntaxFault(`$${name} cannot be listed, printed or passed on`, offset, `read one key of it: $${name}.name`)
  onSecret(keys.join('.'))
}
