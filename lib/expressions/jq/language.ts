import type { Language, Program } from '../language.ts'
import { compileJq } from './program.ts'
import type { CompileContext } from './compiler.ts'
import type { Surroundings } from './run.ts'

/** Makes the language jq for one definition: what its programs may refer to and what they may use. */
export function createJq(context: CompileContext, surroundings: Surroundings): Language {
  const compiled = new Map<string, Program>()
  return {
    name: 'jq',
    sync: true,
    identity: '.',
    compile(text) {
      const known = compiled.get(text)
      if (known !== undefined) return known
      const program = compileJq(text, context, surroundings)
      compiled.set(text, program)
      return program
    },
  }
}
