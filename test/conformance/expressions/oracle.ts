import { loadJq } from 'jq-wasm'

/** What the real jq (1.8.2) says to a program. */
type Verdict =
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'ran'; readonly outputs: readonly string[]; readonly error?: string }

/** Runs programs with jq 1.8.2 itself. */
export interface Oracle {
  /** Runs a program on JSON text; `variables` exist and are null. */
  run(program: string, input: string, variables?: readonly string[]): Verdict
}

/** Loads jq as WebAssembly. */
export async function loadOracle(): Promise<Oracle> {
  const jq = await loadJq()
  return {
    run(program, input, variables = []) {
      const { stdout, stderr } = jq.raw(input, program, ['-c', ...variables.flatMap((name) => ['--argjson', name, 'null'])])
      if (/^jq: error: .* at <top-level>|^jq: \d+ compile error/m.test(stderr)) return { kind: 'refused', message: stderr.trim() }
      const outputs = stdout.split('\n').filter((line) => line !== '')
      const error = /^jq: error \(at [^)]*\)(?: \(not a string\))?: (.*)$/ms.exec(stderr)?.[1]?.trim()
      return error === undefined ? { kind: 'ran', outputs } : { kind: 'ran', outputs, error }
    },
  }
}
