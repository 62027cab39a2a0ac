import { nearestNames, type Json } from '../../common/index.ts'
import { SyntaxFault } from '../syntax-fault.ts'
import type { Ast } from './ast.ts'
import { BUILTINS, PRELUDE } from './builtins/index.ts'
import type { Scope } from './scope.ts'

type Call = Ast & { readonly kind: 'call' }

/** Checks a regular expression; throws a {@link SyntaxFault} (offset 0) for a construct that is refused. */
type CheckPattern = (pattern: string, flags: string | null) => void

const PATTERN_FUNCTIONS: ReadonlySet<string> = new Set(['test', 'match', 'capture', 'scan', 'splits', 'sub', 'gsub'])

/** Makes the fault for a call of a function that does not exist: other numbers of arguments, the nearest name, how to define it. */
export function unknownCall(ast: Call, scope: Scope): SyntaxFault {
  const signature = `${ast.name}/${ast.args.length}`
  const known = [...Object.keys(BUILTINS), ...Object.keys(PRELUDE)]
  const arities = known.filter((candidate) => candidate.startsWith(`${ast.name}/`))
  if (arities.length > 0) return new SyntaxFault(`${signature} is not defined`, ast.at, `there is ${arities.join(', ')} (the number counts arguments)`)
  if (ast.name === 'modulemeta') return new SyntaxFault('modules are not available: modulemeta', ast.at, 'put the functions into the expression')
  const names = [...known.map((candidate) => candidate.replace(/\/\d+$/, '')), ...scope.names('function'), ...scope.names('parameter')]
  const [close] = nearestNames(ast.name, names)
  return new SyntaxFault(`${signature} is not defined`, ast.at, close === undefined ? adviceFor(ast) : `did you mean ${close}?`)
}

function adviceFor({ name, args }: Call): string {
  if (args.length === 0) return `for text write "${name}" in quotes`
  return `define it before it is used: def ${name}(${args.map((_, index) => `p${index + 1}`).join('; ')}): …;`
}

/**
 * Checks the regular expression of a call where it and its flags are written out.
 *
 * @throws {@link SyntaxFault} at the pattern
 */
export function checkLiteralPattern({ name, args }: Call, check: CheckPattern): void {
  const [pattern, second, third] = args
  if (pattern === undefined || (!PATTERN_FUNCTIONS.has(name) && !(name === 'split' && args.length === 2))) return
  const text = literalOf(pattern)
  const flags = flagsOf(name === 'sub' || name === 'gsub' ? third : second)
  if (typeof text !== 'string' || flags === undefined) return
  try {
    check(text, flags)
  } catch (error) {
    if (error instanceof SyntaxFault) throw new SyntaxFault(error.message, pattern.at, error.hint)
    throw error
  }
}

/** @returns `undefined` when they are no literal text */
function flagsOf(ast: Ast | undefined): string | null | undefined {
  const flags = ast === undefined ? null : literalOf(ast)
  return flags === null || typeof flags === 'string' ? flags : undefined
}

function literalOf(ast: Ast): Json | undefined {
  return ast.kind === 'literal' ? ast.value : undefined
}
