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

/** Finds the variables that a program reads, with the members it names; variables it binds itself are found too. */
export function findVariables(ast: jsonata.ExprNode): VariableUse[] {
  const uses: VariableUse[] = []
  visit(ast, uses, new Set())
  return uses
}

function visit(node: unknown, uses: VariableUse[], seen: Set<unknown>): void {
  if (typeof node !== 'object' || node === null || seen.has(node)) return
  seen.add(node)
  if (Array.isArray(node)) {
    for (const item of node) visit(item, uses, seen)
    return
  }
  const { type, steps } = node as { readonly type?: string; readonly steps?: readonly jsonata.ExprNode[] }
  if (type === 'path' && steps?.[0]?.type === 'variable') {
    const [head, ...rest] = steps
    add(head, namesOf(rest), uses)
    for (const step of rest) visit(step, uses, seen)
    seen.add(head)
    visit((head as { readonly predicate?: unknown }).predicate, uses, seen)
    return
  }
  // What is called is a function, not data.
  const { procedure } = node as { readonly procedure?: jsonata.ExprNode }
  if (procedure?.type === 'variable') seen.add(procedure)
  if (type === 'variable') add(node as jsonata.ExprNode, [], uses)
  for (const member of Object.values(node)) visit(member, uses, seen)
}

function add(node: jsonata.ExprNode, keys: readonly string[], uses: VariableUse[]): void {
  const name: unknown = node.value
  if (typeof name !== 'string' || name === '' || name === '$') return
  const secret = SECRETS.has(name)
  const offset = Math.max(0, (node.position ?? 0) - name.length - 1)
  uses.push({ name, keys, secret, offset })
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
