import type jsonata from 'jsonata'
import type { Definition } from './functions.ts'
import { BUILTINS } from './names.ts'

const BEFORE_NODE = Symbol.for('jsonata.__evaluate_entry')

let builtins: ReadonlyMap<string, Definition> | undefined

/** Gives the functions of the library by name; it hands them out to programs only. */
export function readBuiltins(library: typeof jsonata): ReadonlyMap<string, Definition> {
  return builtins ??= lookUp(library)
}

function lookUp(library: typeof jsonata): ReadonlyMap<string, Definition> {
  const found = new Map<string, Definition>()
  const program = library('null')
  program.assign(BEFORE_NODE as unknown as string, (_node: unknown, _input: unknown, environment: { lookup(name: string): unknown }) => {
    for (const name of BUILTINS) found.set(name, environment.lookup(name) as Definition)
  })
  // The first node is reached before anything waits.
  void program.evaluate(null)
  return found
}
