import { expect } from 'chai'
import fc from 'fast-check'
import { jsonEquals, type Json } from '../../../lib/common/index.ts'
import { compile, createBindings, type CompiledExpression } from '../../../lib/expressions/index.ts'
import { loadOracle, type Oracle } from '../../conformance/expressions/oracle.ts'
import { INPUTS, programs } from './programs.ts'

// `SONATINA_DIFFERENTIAL=2000` runs 40,000 cases: each program on every input. Without it the programs are always the same,
// so that a fault of jq that nobody has met yet does not stop an unrelated change.
const WANTED = process.env['SONATINA_DIFFERENTIAL']
const PROGRAMS = Number(WANTED ?? 150)

const UPDATES = /[^=!<>]=[^=]|path|del|pick|map_values|with_entries/

/** Collects outputs, and the text of a failure behind them, in one value; endless programs are cut off. */
function observed(program: string): string {
  return `[(try (${program} | [.]) catch {error: .})] | if length > 300 then .[:300] else . end`
}

function special(value: Json): Json {
  return JSON.parse(JSON.stringify(value, (_key, member: unknown) => member === Infinity ? Number.MAX_VALUE : member === -Infinity ? -Number.MAX_VALUE : member)) as Json
}

describe('jq, compared with jq 1.8.2', () => {
  let oracle: Oracle

  before(async () => {
    oracle = await loadOracle()
  })

  it(`gives the same outputs and failures for ${PROGRAMS} random programs on ${INPUTS.length} inputs`, function () {
    this.timeout(600_000)
    fc.assert(fc.property(programs, (program) => {
      const text = observed(program)
      const verdict = oracle.run(text, INPUTS.map((input) => JSON.stringify(input)).join('\n'))
      if (verdict.kind === 'refused') {
        expect(() => compile('jq', text, { variables: [] })).to.throw()
        return
      }
      if (verdict.error !== undefined) return
      const compiled = compile('jq', text, { variables: [] })
      INPUTS.forEach((input, index) => { compareOn(compiled, program, input as Json, verdict.outputs[index] ?? 'null') })
    }), { numRuns: PROGRAMS, ...(WANTED === undefined && { seed: 1 }) })
  })

  function compareOn(compiled: CompiledExpression, program: string, input: Json, expected: string): void {
    // Where jq loses the place in the data we may still know it, and positions of its parser count bytes.
    if (/Invalid path expression|while parsing/.test(expected)) return
    // Where a pattern takes values apart inside a path, jq takes the place of the last part for that of the whole.
    if (program.includes(' as [') && UPDATES.test(program)) return
    const [output] = compiled.evaluate(input, createBindings({})) as readonly Json[]
    const ours = special(output ?? null)
    if (JSON.stringify(ours).includes('Invalid path expression')) return
    expect(jsonEquals(ours, JSON.parse(expected)), `${program} on ${JSON.stringify(input)}: ${JSON.stringify(ours)}, jq ${expected}`).to.equal(true)
  }
})
