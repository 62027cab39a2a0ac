import type { FunctionBody } from './compile/functions.ts'

/** What a name stands for at a place of a program; `depth` is the length of the environment chain there. */
export type Binding =
  | { readonly kind: 'variable' | 'label' | 'parameter'; readonly name: string; readonly depth: number }
  | { readonly kind: 'function'; readonly name: string; readonly arity: number; readonly depth: number; readonly body: FunctionBody }

/** The names visible at a place of a program; immutable. */
export class Scope {
  static readonly root = new Scope(undefined, undefined, 0)

  readonly #outer: Scope | undefined
  readonly #binding: Binding | undefined
  /** Length of the environment chain. */
  readonly depth: number

  private constructor(outer: Scope | undefined, binding: Binding | undefined, depth: number) {
    this.#outer = outer
    this.#binding = binding
    this.depth = depth
  }

  /** Adds a variable, label or parameter: each is a link of the chain. */
  with(kind: 'variable' | 'label' | 'parameter', name: string): Scope {
    return new Scope(this, { kind, name, depth: this.depth + 1 }, this.depth + 1)
  }

  /** Adds a function: it is known at compile time and takes no link. */
  withFunction(name: string, arity: number, body: FunctionBody): Scope {
    return new Scope(this, { kind: 'function', name, arity, depth: this.depth, body }, this.depth)
  }

  /** Finds the innermost variable or label of a name. */
  find(kind: 'variable' | 'label', name: string): Binding | undefined {
    return this.search((binding) => binding.kind === kind && binding.name === name)
  }

  /** Finds the innermost function, or parameter, of a name and number of arguments. */
  findCallable(name: string, arity: number): Binding | undefined {
    return this.search((binding) => binding.name === name &&
      (binding.kind === 'function' ? binding.arity === arity : binding.kind === 'parameter' && arity === 0))
  }

  /** Lists the names of one kind, innermost first. */
  names(kind: Binding['kind']): string[] {
    const names: string[] = []
    this.search((binding) => {
      if (binding.kind === kind) names.push(binding.name)
      return false
    })
    return names
  }

  /** Looks for the innermost binding that passes a test. */
  search(test: (binding: Binding) => boolean): Binding | undefined {
    const binding = this.#binding
    if (binding === undefined || test(binding)) return binding
    return this.#outer?.search(test)
  }
}
