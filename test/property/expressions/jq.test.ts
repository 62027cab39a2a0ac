import { expect } from 'chai'
import fc from 'fast-check'
import { ExpressionError } from '../../../lib/errors/index.ts'
import { jsonEquals, type Json } from '../../../lib/common/index.ts'
import { compile, createBindings } from '../../../lib/expressions/index.ts'
import { parse } from '../../../lib/expressions/jq/parser.ts'
import { print } from './print.ts'
import { deepFreeze } from '../../../lib/expressions/jq/value.ts'
import { INPUTS, programs } from './programs.ts'

const NOTHING = createBindings({})
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>

function run(program: string, input: Json): readonly Json[] {
  return compile('jq', program, { variables: [] }).evaluate(input, NOTHING) as readonly Json[]
}

/** Drops offsets, which differ between a program and its printed form. */
function shape(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key: string, member: unknown) => key === 'at' ? undefined : member))
}

describe('jq, properties', () => {
  it('parses any text or says where it is wrong', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...Array.from('.[]{}()|,:;"\\$?/=+-ab1 @#')) })), (text) => {
      try {
        compile('jq', text)
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
      }
    }), { numRuns: 2000 })
  })

  it('prints programs so that they parse to an equal tree', () => {
    fc.assert(fc.property(programs, (program) => {
      const tree = parse(program)
      expect(shape(parse(print(tree)))).to.deep.equal(shape(tree))
    }), { numRuns: 500 })
  })

  it('never changes its input', () => {
    fc.assert(fc.property(programs, fc.constantFrom(...INPUTS), (program, input) => {
      const frozen = deepFreeze(structuredClone(input)) as Json
      try {
        run(`[limit(200; ${program})]`, frozen)
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
      }
      expect(frozen).to.deep.equal(input)
    }), { numRuns: 1000 })
  })

  it('finds by getpath what path names', () => {
    const path = fc.constantFrom('.a', '.[0]', '..', '.[]?', '.a?', '.[1:]', 'first(.[]?)', '(.a?, .[0]?)', 'select(.)', 'if . then .[0]? else .a? end')
    fc.assert(fc.property(path, json, (program, input) => {
      expect(run(`try [path(${program}) as $p | getpath($p)] catch "failed"`, input)).to.deep.equal(run(`try [${program}] catch "failed"`, input))
    }))
  })

  it('takes objects apart and puts them together again', () => {
    fc.assert(fc.property(fc.dictionary(fc.string({ minLength: 1 }), json), (object) => {
      const [result] = run('to_entries | from_entries', object)
      expect(jsonEquals(result, object)).to.equal(true)
    }))
  })

  it('writes and reads JSON text', () => {
    fc.assert(fc.property(json, (value) => {
      expect(jsonEquals(run('tojson | fromjson', value)[0], value)).to.equal(true)
    }))
  })

  it('orders all values the same way round', () => {
    fc.assert(fc.property(json, json, json, (a, b, c) => {
      const less = (left: Json, right: Json): boolean => run('.[0] <= .[1]', [left, right])[0] === true
      expect(less(a, b) || less(b, a)).to.equal(true)
      if (less(a, b) && less(b, c)) expect(less(a, c)).to.equal(true)
      if (less(a, b) && less(b, a)) expect(run('.[0] == .[1]', [a, b])[0]).to.equal(true)
    }))
  })

  it('builds in reduce what it would build without changing in place', () => {
    const updates = ['. + [$x]', '. + {($x|tostring): $x}', '.[$x|tostring] += 1', '.a += [$x]', '.a += [.]', '.a = .', '.[0] = .', '.a.b |= [., $x]', '. + [.]', '(.a, .b) += [$x]', '.a = [.a, $x] | .b = .a', 'if $x then . + [$x] else . end']
    fc.assert(fc.property(fc.array(fc.constantFrom(...updates), { minLength: 1, maxLength: 2 }), fc.array(json, { maxLength: 5 }), fc.constantFrom<Json>(null, [], {}, { a: [1] }), (steps, items, init) => {
      const body = steps.join(' | ')
      // `limit` hides the shape of the update, so its copy is never changed in place.
      const fast = run(`try (.[0] as $i | reduce .[1][] as $x ($i; ${body})) catch "failed"`, [init, items])
      const slow = run(`try (.[0] as $i | reduce .[1][] as $x ($i; limit(1; ${body}))) catch "failed"`, [init, items])
      expect(fast).to.deep.equal(slow)
    }), { numRuns: 1000 })
  })
})
