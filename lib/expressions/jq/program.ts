import type { Json } from '../../common/index.ts'
import type { Bindings } from '../evaluator.ts'
import { ProgramFailure, type Program } from '../language.ts'
import { SyntaxFault } from '../syntax-fault.ts'
import type { Ast } from './ast.ts'
import { NONE, type Filter } from './compile/filter.ts'
import { compileProgram, type CompileContext } from './compiler.ts'
import { Break, JqError, LimitExceeded } from './failure.ts'
import { parse, TOO_DEEP } from './parser.ts'
import { redact } from './redact.ts'
import { Env, Run, type Surroundings } from './run.ts'
import { activate, countTree } from './walk-budget.ts'

/**
 * Compiles a jq program.
 *
 * @throws {@link SyntaxFault} when it does not parse or refers to something unknown.
 */
export function compileJq(text: string, context: CompileContext, surroundings: Surroundings): Program {
  let filter: Filter
  let ast: Ast
  try {
    ast = parse(text)
    filter = compileProgram(ast, context)
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxFault('the expression is nested too deeply', 0, TOO_DEEP)
    throw error
  }
  const { get } = filter
  const assignment = findAssignment(ast)
  const check = mayMultiply(ast, text) ? checkSize : undefined
  return {
    evaluateAll: (input, bindings) => {
      const outputs: Json[] = []
      return execute(surroundings, bindings, (env) => {
        filter.each(input, env, (output) => {
          env.run.charge(1)
          check?.(output, env.run)
          outputs.push(output)
          return false
        })
        return outputs
      })
    },
    evaluateEach: (input, bindings, emit) => {
      execute(surroundings, bindings, (env) => filter.each(input, env, (output) => {
        check?.(output, env.run)
        emit(output)
        return false
      }))
    },
    ...(get && { evaluateOne: oneEvaluator(get, surroundings, check) }),
    ...(filter.keys?.length === 0 && { identity: true }),
    ...(filter.keys && { keys: filter.keys }),
    ...(assignment !== undefined && { assignment }),
    ...(isArithmetic(ast) && { plainNumbers: true }),
  }
}

function findAssignment(ast: Ast): number | undefined {
  if (ast.kind === 'pipe') return findAssignment(ast.right)
  return ast.kind === 'binary' && ast.operator === '=' ? ast.at : undefined
}

function isArithmetic(ast: Ast): boolean {
  if (ast.kind === 'literal') return typeof ast.value === 'number'
  if (ast.kind === 'negate') return isArithmetic(ast.operand)
  return ast.kind === 'binary' && ['+', '-', '*', '/', '%'].includes(ast.operator) && isArithmetic(ast.left) && isArithmetic(ast.right)
}

type SizeCheck = (output: Json, run: Run) => void

const LOOPS: ReadonlySet<string> = new Set(['recurse', 'until', 'while', 'repeat', 'walk', 'limit', 'first', 'last', 'add'])
const LOOP_IN_TEXT = new RegExp(['reduce', 'foreach', 'def', '\\.\\.', ...LOOPS].join('|'))
// Programs without loops multiply a value once for each part of their text.
const MOST_NODES = 60

/** Tells whether a program can make a small value into a tree of any size by using it twice, again and again. */
function mayMultiply(program: Ast, text: string): boolean {
  // A node takes a character at least: most programs need no walk.
  if (text.length <= MOST_NODES && !LOOP_IN_TEXT.test(text)) return false
  const pending: unknown[] = [program]
  let nodes = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (isLoop(next)) return true
    if ('kind' in next && (nodes += 1) > MOST_NODES) return true
    for (const member of Object.values(next) as readonly unknown[]) pending.push(member)
  }
  return false
}

function isLoop({ kind, name }: { readonly kind?: unknown; readonly name?: unknown }): boolean {
  return kind === 'reduce' || kind === 'foreach' || kind === 'def' || (kind === 'call' && LOOPS.has(String(name)))
}

// What uses the output outside, a journal or an answer, would write it out without a limit.
const checkSize: SizeCheck = (output, run) => {
  const { maxCells } = run.surroundings.limits
  if (typeof output === 'object' && countTree(output, maxCells) > maxCells) run.overflow()
}

// A run is reused by the next evaluation; an evaluation inside another one gets its own.
let idle: Env | undefined

function acquire(surroundings: Surroundings, bindings: Bindings): Env {
  const env = idle ?? new Env(undefined, undefined, new Run(surroundings, bindings))
  idle = undefined
  env.run.start(surroundings, bindings)
  env.run.outer = activate(env.run)
  return env
}

function release(env: Env): void {
  activate(env.run.outer)
  env.run.clear()
  idle = env
}

function oneEvaluator(get: NonNullable<Filter['get']>, surroundings: Surroundings, check: SizeCheck | undefined): NonNullable<Program['evaluateOne']> {
  return (input, bindings) => {
    const env = acquire(surroundings, bindings)
    try {
      const output = get(input, env)
      if (output === NONE) return undefined
      check?.(output, env.run)
      return output
    } catch (error) {
      throw toFailure(error, env.run)
    } finally {
      release(env)
    }
  }
}

function execute<T>(surroundings: Surroundings, bindings: Bindings, run: (env: Env) => T): T {
  const env = acquire(surroundings, bindings)
  try {
    return run(env)
  } catch (error) {
    throw toFailure(error, env.run)
  } finally {
    release(env)
  }
}

function toFailure(error: unknown, run: Run): unknown {
  if (error instanceof JqError) {
    const offset = error.offset ?? run.offset
    if (run.secrets === undefined) return new ProgramFailure('failed', error.message, offset)
    return new ProgramFailure('failed', redact(error.bareMessage ?? error.message, run.secrets), offset)
  }
  if (error instanceof LimitExceeded) return new ProgramFailure('limit', `${error.limit}: ${error.message}`, run.offset)
  // The stack or the memory of the engine ends before ours; what the program did is the reason.
  if (error instanceof RangeError) return new ProgramFailure('limit', 'depth: the expression calls itself too deeply', run.offset)
  if (error instanceof Break) return new ProgramFailure('failed', 'break', run.offset)
  return error
}
