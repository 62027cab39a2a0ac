import type jsonata from 'jsonata'

/** A variable of the bindings that a program reads. */
export interface VariableUse {
  readonly name: string
  /** Literal member names behind it: `$WORKFLOW.a.b`. */
  readonly keys: readonly string[]
  readonly secret: boolean
  readonly offset: number
}

const SECRETS: ReadonlySet<string> = new Set(['SECRET', 'SECRETS'])

/** A function that a program calls by name. */
export interface FunctionUse {
  readonly name: string
  readonly offset: number
}

/** A regular expression of a program. */
export interface PatternUse {
  readonly pattern: RegExp
  readonly offset: number
}

/** The names of a program, and its regular expressions. */
export interface Names {
  /** Variables that it reads, those it binds itself among them. */
  readonly variables: readonly VariableUse[]
  /** What it calls by name. */
  readonly calls: readonly FunctionUse[]
  /** What it binds itself: assignments, parameters, `@$name`, `#$name`. */
  readonly bound: ReadonlySet<string>
  readonly patterns: readonly PatternUse[]
}

interface Found {
  readonly variables: VariableUse[]
  readonly calls: FunctionUse[]
  readonly bound: Set<string>
  readonly patterns: PatternUse[]
}

/** Finds the names that a program reads, calls and binds. */
export function findNames(ast: jsonata.ExprNode): Names {
  const found: Found = { variables: [], calls: [], bound: new Set(), patterns: [] }
  visit(ast, found, new Set())
  return found
}

function visit(node: unknown, found: Found, seen: Set<unknown>): void {
  if (typeof node !== 'object' || node === null || seen.has(node)) return
  seen.add(node)
  if (!Array.isArray(node)) read(node, found, seen)
  for (const member of Object.values(node)) visit(member, found, seen)
}

/** The parts of a node that matter here; the library's type knows some of the kinds only. */
interface AstNode {
  readonly type?: string
  readonly value?: unknown
  readonly position?: number
  readonly steps?: readonly jsonata.ExprNode[]
  readonly procedure?: jsonata.ExprNode
}

/** Reads one node; what is read together with it is marked as seen. */
function read(node: AstNode, found: Found, seen: Set<unknown>): void {
  bindNames(node, found.bound)
  const { type, value, position = 0, steps: [head, ...rest] = [], procedure } = node
  if (value instanceof RegExp) {
    // The library adds the flag g, and tells where the text of the pattern ends.
    found.patterns.push({ pattern: value, offset: Math.max(0, position - value.source.length - value.flags.length - 1) })
    seen.add(value)
  }
  if (type === 'path' && head?.type === 'variable') {
    add(head, namesOf(rest), found.variables)
    seen.add(head)
    visit((head as { readonly predicate?: unknown }).predicate, found, seen)
  }
  // What is called is a function, not data.
  if (procedure?.type === 'variable' && typeof procedure.value === 'string') {
    found.calls.push({ name: procedure.value, offset: offsetOf(procedure, procedure.value) })
    seen.add(procedure)
  }
  if (type === 'variable') add(node, [], found.variables)
}

/** Takes up the names that a node gives a value to. */
function bindNames(node: object, bound: Set<string>): void {
  const { type, lhs, arguments: parameters, focus, index, value } = node as Readonly<Record<string, unknown>>
  const names: unknown[] = [focus, index]
  if (type === 'bind') names.push((lhs as { readonly value?: unknown } | undefined)?.value)
  if (type === 'index') names.push(value)
  if (type === 'lambda' && Array.isArray(parameters)) names.push(...parameters.map((parameter: { readonly value?: unknown }) => parameter.value))
  for (const name of names) if (typeof name === 'string') bound.add(name)
}

function add(node: Pick<AstNode, 'value' | 'position'>, keys: readonly string[], uses: VariableUse[]): void {
  const name: unknown = node.value
  if (typeof name !== 'string' || name === '' || name === '$') return
  const secret = SECRETS.has(name)
  uses.push({ name, keys, secret, offset: offsetOf(node, name) })
}

/** Offset of the sign of a variable; the library tells where its name ends. */
function offsetOf(node: Pick<AstNode, 'position'>, name: string): number {
  return Math.max(0, (node.position ?? 0) - name.length - 1)
}

function namesOf(steps: readonly jsonata.ExprNode[]): string[] {
  const names: string[] = []
  for (const step of steps) {
    const name: unknown = step.value
    if ((step.type !== 'name' && step.type !== 'string') || typeof name !== 'string') break
    names.push(name)
  }
  return names
}
