import { RegexFault } from '../regex/pattern.ts'
import { parseFlags } from '../regex/flags.ts'
import { SyntaxFault } from '../syntax-fault.ts'
import type { Language, Program } from '../language.ts'
import { compileJq } from './program.ts'
import type { CompileContext } from './compiler.ts'
import type { Surroundings } from './run.ts'

/** Makes the language jq for one definition: what its programs may refer to and what they may use. */
export function createJq(context: CompileContext, surroundings: Surroundings): Language {
  const compiled = new Map<string, Program>()
  const checked: CompileContext = { ...context, checkPattern: (pattern, flags) => { checkPattern(pattern, flags ?? '', surroundings) } }
  return {
    name: 'jq',
    sync: true,
    identity: '.',
    compile(text) {
      const known = compiled.get(text)
      if (known !== undefined) return known
      const program = compileText(text, checked, surroundings)
      compiled.set(text, program)
      return program
    },
  }
}

/** Compiles a program; a text that is none, but would be inside quotes, is read as a text with interpolations. */
function compileText(text: string, context: CompileContext, surroundings: Surroundings): Program {
  try {
    return compileJq(text, context, surroundings)
  } catch (error) {
    if (!(error instanceof SyntaxFault) || !text.includes('\\(')) throw error
    try {
      return compileJq(`"${text}"`, context, surroundings)
    } catch {
      // The first fault is the one that the author can understand.
      throw error
    }
  }
}

// A bad literal pattern is found when the definition is loaded, not when an instance gets there.
function checkPattern(pattern: string, flags: string, surroundings: Surroundings): void {
  const parsed = parseFlags(flags)
  if (parsed === undefined) throw new SyntaxFault(`${flags} is not a valid modifier string`, 0, 'flags are g, i, x, s, n, l and p')
  try {
    surroundings.regex.compile(pattern, parsed.options)
  } catch (error) {
    if (error instanceof RegexFault) throw new SyntaxFault(error.message, 0, error.hint)
    throw error
  }
}
