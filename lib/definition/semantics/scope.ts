import type { JsonObject } from '../../common/index.ts'
import type { Violation } from '../../errors/index.ts'
import { suggest } from '../suggest.ts'
import type { Definition } from '../types.ts'

/** A fault of meaning, and whether it asks for something that the runtime does not have. */
export interface SemanticFinding extends Violation {
  readonly unsupported?: boolean
}

/** A name that refers to something, with what it should be. */
interface Reference {
  readonly kind: 'function' | 'auth' | 'consumed event' | 'produced event' | 'error' | 'retry' | 'state'
  readonly name: string
}

/** What the checks of one definition share. */
export interface SemanticScope {
  readonly definition: Definition
  /** The document that the definition was made from. */
  readonly document: JsonObject
  /** Reports a fault. */
  readonly report: (pointer: string, message: string, hint?: string) => void
  /** Reports something that the runtime does not support. */
  readonly reportUnsupported: (pointer: string, message: string, hint: string) => void
  /** Reports a name that is not among the known ones, with the nearest of them. */
  readonly checkName: (pointer: string, reference: Reference, known: readonly string[]) => void
}

const LISTS: Readonly<Record<string, string>> = { function: 'functions', event: 'events', error: 'errors', retry: 'retries', auth: 'auth' }

/** Creates the scope; reported faults are added to the list. */
export function createScope(definition: Definition, document: JsonObject, findings: SemanticFinding[]): SemanticScope {
  const report: SemanticScope['report'] = (pointer, message, hint) => {
    findings.push({ pointer, message, ...(hint === undefined ? {} : { hint }) })
  }
  return {
    definition,
    document,
    report,
    reportUnsupported(pointer, message, hint) {
      findings.push({ pointer, message, hint, unsupported: true })
    },
    checkName(pointer, { kind, name }, known) {
      const list = LISTS[kind.split(' ').at(-1) ?? '']
      // A list whose reference could not be read is told once, not for each name.
      if (name === '' || known.includes(name) || (list !== undefined && typeof document[list] === 'string')) return
      report(pointer, `${kind} ${name} is not defined`, suggest(name, known))
    },
  }
}
