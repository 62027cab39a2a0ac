import { adviseVariable } from '../advise-variable.ts'
import { SyntaxFault } from '../syntax-fault.ts'
import type { Ast, ObjectEntry, Pattern } from './ast.ts'
import { describe } from './dump.ts'
import { BUILTINS, formatFilter, formatter, PRELUDE } from './builtins/index.ts'
import { array, object, text, tuple, type Entry } from './compile/construct.ts'
import { attempt, comma, conditional, pipe } from './compile/control.ts'
import { constant, type Filter } from './compile/filter.ts'
import { call, globalMember, globalVariable, leave, parameter, secretMember, variable, type FunctionBody } from './compile/functions.ts'
import { bind, foreach, label, reduce } from './compile/loops.ts'
import { alternative, arithmetic, comparison, logical, negate } from './compile/operators.ts'
import { identity, index, iterate, slice } from './compile/paths.ts'
import { binder, type CompiledMember, type CompiledPattern } from './compile/patterns.ts'
import { update } from './compile/update.ts'
import { descendants } from './builtins/paths.ts'
import { checkLiteralPattern, unknownCall } from './call-checks.ts'
import { parse } from './parser.ts'
import { Scope } from './scope.ts'
import { deepFreeze } from './value.ts'

/** What a program may refer to, and what the compiler tells about it. */
export interface CompileContext {
  /** Names of the variables that exist, without `$`; absent when any name may be bound later. */
  readonly variables?: readonly string[]
  /** Allows keys of `$SECRET` that are computed from data. */
  readonly dynamicSecrets?: boolean
  /** Called for each variable of the bindings that the program reads. */
  readonly onVariable?: (name: string) => void
  /** Called for each literal key read from `$SECRET` or `$SECRETS`. */
  readonly onSecret?: (key: string) => void
  /** Checks a literal regular expression; throws a {@link SyntaxFault} (offset 0) for a construct that is refused. */
  readonly checkPattern?: (pattern: string, flags: string | null) => void
}

const SECRETS: ReadonlySet<string> = new Set(['SECRET', 'SECRETS'])

/**
 * Compiles a parsed program to a filter.
 *
 * @throws {@link SyntaxFault} for an unknown function, variable or label, and for misuse of secrets.
 */
export function compileProgram(program: Ast, context: CompileContext): Filter {
  return new Compiler(context).compile(program, Scope.root)
}

const preludeBodies = new Map<string, FunctionBody>()

/** Compiles the text of a builtin that is written in jq, once. */
function preludeBody(signature: string): FunctionBody | undefined {
  const known = preludeBodies.get(signature)
  if (known !== undefined || !Object.hasOwn(PRELUDE, signature)) return known
  const definition = parse(`${PRELUDE[signature] ?? ''} .`)
  if (definition.kind !== 'def') throw new SyntaxFault(`${signature} is not a definition`, 0, 'this is a defect of the compiler')
  const body: FunctionBody = { filter: undefined, name: definition.name }
  preludeBodies.set(signature, body)
  new Compiler({}).defineBody(body, definition.params, definition.body, Scope.root)
  return body
}

class Compiler {
  readonly #context: CompileContext

  constructor(context: CompileContext) {
    this.#context = context
  }

  compile(ast: Ast, scope: Scope): Filter {
    const { at } = ast
    switch (ast.kind) {
      case 'identity': return identity()
      case 'descendants': return descendants()
      case 'literal': return constant(deepFreeze(ast.value))
      case 'location': return constant(deepFreeze({ file: '<top-level>', line: ast.line }))
      case 'text': return text(
        ast.parts.map((part) => typeof part === 'string' ? part : this.compile(part, scope)),
        ast.format === undefined ? undefined : formatter(ast.format, at),
      )
      case 'format': return formatFilter(ast.name, at)
      case 'index': return this.#index(ast, scope)
      case 'slice': return slice(
        this.compile(ast.target, scope), ast.from && this.compile(ast.from, scope), ast.to && this.compile(ast.to, scope), at, ast.optional,
      )
      case 'iterate': return iterate(this.compile(ast.target, scope), at, ast.optional)
      case 'array': return this.#array(ast.body, scope)
      case 'object': return object(ast.entries.map((entry) => this.#entry(entry, scope)))
      case 'negate': return negate(this.compile(ast.operand, scope), at)
      case 'binary': return this.#binary(ast, scope)
      default: return this.#control(ast, scope)
    }
  }

  #entry({ key, value }: ObjectEntry, scope: Scope): Entry {
    return { key: this.#key(key, scope), value: this.compile(value, scope), offset: key.at }
  }

  #key(key: Ast, scope: Scope): Filter {
    const compiled = this.compile(key, scope)
    const fixed = compiled.constant
    if (fixed === undefined || typeof fixed === 'string') return compiled
    throw new SyntaxFault(`cannot use ${describe(fixed)} as object key`, key.at, 'keys are texts')
  }

  #control(ast: Ast, scope: Scope): Filter {
    switch (ast.kind) {
      case 'pipe': return pipe(this.compile(ast.left, scope), this.compile(ast.right, scope))
      case 'comma': return comma(this.compile(ast.left, scope), this.compile(ast.right, scope))
      case 'if': return conditional(
        this.compile(ast.condition, scope), this.compile(ast.then, scope), ast.else ? this.compile(ast.else, scope) : identity(),
      )
      case 'try': return attempt(this.compile(ast.body, scope), ast.handler && this.compile(ast.handler, scope))
      case 'as': return this.#bind(ast, scope)
      case 'reduce': {
        const { scope: inner, binder: bound } = this.#patterns(ast.patterns, scope)
        return reduce(this.compile(ast.source, scope), bound, this.compile(ast.init, scope), this.compile(ast.update, inner))
      }
      case 'foreach': {
        const { scope: inner, binder: bound } = this.#patterns(ast.patterns, scope)
        return foreach(
          this.compile(ast.source, scope), bound, this.compile(ast.init, scope), this.compile(ast.update, inner),
          ast.extract && this.compile(ast.extract, inner),
        )
      }
      case 'label': return label(this.compile(ast.body, scope.with('label', ast.name)))
      case 'break': {
        const found = scope.find('label', ast.name)
        if (found === undefined) throw new SyntaxFault(`label $${ast.name} is not defined`, ast.at, `write "label $${ast.name} | …" around it`)
        return leave(scope.depth - found.depth)
      }
      case 'def': {
        const body: FunctionBody = { filter: undefined, name: ast.name }
        const inner = scope.withFunction(ast.name, ast.params.length, body)
        this.defineBody(body, ast.params, ast.body, inner)
        return this.compile(ast.rest, inner)
      }
      case 'call': return this.#call(ast, scope)
      case 'variable': return this.#variable(ast.name, ast.at, scope)
      default: throw new SyntaxFault(`unknown construct ${ast.kind}`, ast.at, 'this is a defect of the compiler')
    }
  }

  /** Compiles the body of a function; `$name` parameters are filters that are also bound as variables. */
  defineBody(body: FunctionBody, params: readonly string[], ast: Ast, scope: Scope): void {
    let inner = scope
    for (const param of params) inner = inner.with('parameter', param.replace(/^\$/, ''))
    const wrapped = params.filter((param) => param.startsWith('$')).reduceRight<Ast>((rest, param) => {
      const name = param.slice(1)
      return { kind: 'as', at: ast.at, source: { kind: 'call', at: ast.at, name, args: [] }, patterns: [{ kind: 'name', name }], body: rest }
    }, ast)
    body.filter = this.compile(wrapped, inner)
  }

  #array(body: Ast | undefined, scope: Scope): Filter {
    if (body === undefined) return array(undefined)
    const items: Filter[] = []
    for (let rest: Ast | undefined = body; rest !== undefined;) {
      items.unshift(this.compile(rest.kind === 'comma' ? rest.right : rest, scope))
      rest = rest.kind === 'comma' ? rest.left : undefined
    }
    const [only] = items
    if (items.length === 1 && only !== undefined) return array(only)
    return items.every((item) => item.count === 'one') ? tuple(items) : array(items.reduce((left, right) => comma(left, right)))
  }

  #binary(ast: Ast & { kind: 'binary' }, scope: Scope): Filter {
    const { operator, at } = ast
    const left = this.compile(ast.left, scope)
    const right = this.#right(ast, scope)
    switch (operator) {
      case '+': case '-': case '*': case '/': case '%': return arithmetic(operator, left, right, at)
      case '==': case '!=': case '<': case '<=': case '>': case '>=': return comparison(operator, left, right)
      case 'and': case 'or': return logical(operator, left, right)
      case '//': return alternative(left, right)
      default: return update(operator, left, right, at)
    }
  }

  /** Compiles the right operand; `.a-b`, where b is no function, was meant as the field "a-b". */
  #right({ operator, left, right }: Ast & { kind: 'binary' }, scope: Scope): Filter {
    try {
      return this.compile(right, scope)
    } catch (error) {
      const field = left.kind === 'index' && left.key.kind === 'literal' && typeof left.key.value === 'string' ? left.key.value : undefined
      const isName = operator === '-' && right.kind === 'call' && right.args.length === 0
      if (field === undefined || !isName || !(error instanceof SyntaxFault)) throw error
      throw new SyntaxFault(error.message, error.offset, `a field with a dash is written in quotes: ."${field}-${right.name}"`)
    }
  }

  #bind(ast: Ast & { kind: 'as' }, scope: Scope): Filter {
    const { scope: inner, binder: bound } = this.#patterns(ast.patterns, scope)
    return bind(this.compile(ast.source, scope), bound, this.compile(ast.body, inner))
  }

  #patterns(patterns: readonly Pattern[], scope: Scope): { scope: Scope; binder: ReturnType<typeof binder> } {
    const names: string[] = []
    const slot = (name: string): number => {
      if (!names.includes(name)) names.push(name)
      return names.indexOf(name)
    }
    const compiled = patterns.map((pattern) => this.#pattern(pattern, scope, slot))
    return { scope: names.reduce((outer, name) => outer.with('variable', name), scope), binder: binder(compiled, names.length) }
  }

  #pattern(pattern: Pattern, scope: Scope, slot: (name: string) => number): CompiledPattern {
    if (pattern.kind === 'name') return { kind: 'name', slot: slot(pattern.name) }
    if (pattern.kind === 'items') return { kind: 'items', items: pattern.items.map((item) => this.#pattern(item, scope, slot)) }
    return {
      kind: 'members',
      members: pattern.members.map((member): CompiledMember => ({
        key: this.#key(member.key, scope),
        ...(member.name !== undefined && { slot: slot(member.name) }),
        ...(member.pattern && { pattern: this.#pattern(member.pattern, scope, slot) }),
      })),
    }
  }

  #variable(name: string, at: number, scope: Scope): Filter {
    const found = scope.find('variable', name)
    if (found !== undefined) return variable(scope.depth - found.depth)
    if (SECRETS.has(name)) {
      throw new SyntaxFault(`$${name} cannot be listed, printed or passed on`, at, `read one key of it: $${name}.name`)
    }
    return this.#global(name, at, scope)
  }

  #global(name: string, at: number, scope: Scope): Filter {
    if (name === 'ENV') return constant(deepFreeze({}))
    const known = this.#context.variables
    if (known !== undefined && !known.includes(name)) {
      const names = [...scope.names('variable'), ...known].map((candidate) => `$${candidate}`)
      throw new SyntaxFault(`$${name} is not defined`, at, adviseVariable(name, names))
    }
    this.#context.onVariable?.(name)
    return globalVariable(name)
  }

  #index(ast: Ast & { kind: 'index' }, scope: Scope): Filter {
    return this.#record(ast, scope) ?? index(this.compile(ast.target, scope), this.compile(ast.key, scope), ast.at, ast.optional)
  }

  /** `$WORKFLOW.key`, `$SECRET.a.b`: members of records are read one by one, the record itself is never made. */
  #record(ast: Ast & { kind: 'index' }, scope: Scope): Filter | undefined {
    const keys: Ast[] = []
    let base: Ast = ast
    for (; base.kind === 'index'; base = base.target) keys.unshift(base.key)
    if (base.kind !== 'variable' || scope.find('variable', base.name) !== undefined) return undefined
    const { name, at } = base
    const literals = keys.map((key) => key.kind === 'literal' && typeof key.value === 'string' ? key.value : undefined)
    if (SECRETS.has(name)) return this.#secret(name, at, keys, literals, scope)
    const [first] = literals
    if (name !== 'WORKFLOW' || keys.length > 1 || first === undefined) return undefined
    this.#global(name, at, scope)
    return globalMember(name, first)
  }

  #secret(name: string, at: number, keys: readonly Ast[], literals: readonly (string | undefined)[], scope: Scope): Filter {
    this.#global(name, at, scope)
    if (literals.every((key) => key !== undefined)) {
      const key = literals.join('.')
      this.#context.onSecret?.(key)
      return globalMember(name, key)
    }
    const [key] = keys
    if (this.#context.dynamicSecrets !== true || keys.length > 1 || key === undefined) {
      throw new SyntaxFault(`a key of $${name} must be written out, not computed`, at,
        'write $SECRET."a.b", or set sonatina.expressions.dynamic-secrets=true')
    }
    return secretMember(name, this.compile(key, scope))
  }

  #call(ast: Ast & { kind: 'call' }, scope: Scope): Filter {
    const { name, at } = ast
    const arity = ast.args.length
    const signature = `${name}/${arity}`
    const found = scope.findCallable(name, arity)
    if (found?.kind === 'parameter') return parameter(scope.depth - found.depth)
    const args = ast.args.map((arg) => this.compile(arg, scope))
    if (found?.kind === 'function') return call(found.body, args, scope.depth - found.depth)
    const builtin = Object.hasOwn(BUILTINS, signature) ? BUILTINS[signature] : undefined
    if (this.#context.checkPattern !== undefined) checkLiteralPattern(ast, this.#context.checkPattern)
    if (builtin !== undefined) return builtin(args, at)
    const body = preludeBody(signature)
    if (body !== undefined) return call(body, args, scope.depth)
    throw unknownCall(ast, scope)
  }
}
