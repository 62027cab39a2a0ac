import { expect } from 'chai'
import { DefinitionError, ExpressionError, SonatinaError } from '../../../lib/errors/index.ts'
import { createRandomIdSource, createSystemClock, type Json } from '../../../lib/common/index.ts'
import { createBindings, createExpressions, type ExpressionsOptions } from '../../../lib/expressions/index.ts'

const SITE = { pointer: '/states/0' }
const SECRET = 'correct-horse-battery'
const BINDINGS = createBindings({ secrets: { read: (key) => key === 'token' ? SECRET : undefined }, workflow: { id: () => 'w' } })

function make(options: Partial<ExpressionsOptions> = {}) {
  return createExpressions({ language: 'jq', profile: 'spec', clock: createSystemClock(), ids: createRandomIdSource(), ...options })
}

/** Runs a program to its end; gives the error it ends in. */
async function failureOf(text: string, input: Json = null, options: Partial<ExpressionsOptions> = {}): Promise<SonatinaError> {
  const start = performance.now()
  try {
    const output = await make(options).compileFilter(text, SITE).evaluate(input, BINDINGS)
    throw new Error(`no failure: ${JSON.stringify(output).slice(0, 100)}`)
  } catch (error) {
    expect(SonatinaError.is(error), String(error)).to.equal(true)
    expect(performance.now() - start, 'milliseconds').to.be.below(4000)
    return error as SonatinaError
  }
}

describe('hostile expressions', function () {
  this.timeout(30_000)
  let before: readonly string[]

  beforeEach(() => {
    before = Object.getOwnPropertyNames(Object.prototype)
  })

  afterEach(() => {
    expect(Object.getOwnPropertyNames(Object.prototype)).to.deep.equal(before)
  })

  const endless: Readonly<Record<string, string>> = {
    'an endless range': '[range(1e12)] | length',
    'an endless repeat': 'last(repeat(.))',
    'a recursion without end': 'def f: 1 + f; f',
    'a recursion of filters without end': 'def f(g): f(g | g); f(.)',
    'an endless until': 'until(false; .)',
    'a step of zero': 'last(range(0; 1; 0))',
    'text that doubles for ever': 'reduce range(100) as $i ("x"; . + .)',
    'a list that doubles for ever': 'reduce range(100) as $i ([1]; . + .)',
    'a large product': '"ab" * 1e8 | length',
    'a sparse list': '[] | .[500000000] = 1',
    'many combinations': '[range(100)] | [combinations(6)] | length',
    'a try around the end': 'try (last(repeat(.))) catch "caught"',
  }
  for (const [name, text] of Object.entries(endless)) {
    it(`${name} ends at a limit`, async () => {
      const error = await failureOf(text)
      expect(error.code).to.equal('EXPRESSION_LIMIT')
      expect(error.message).to.match(/^(?:max-steps|timeout|max-cells|depth): /)
    })
  }

  // A value of 80 cells that is a tree of 2^40, since its parts are shared: whatever walks through it must come to an end.
  const bomb = 'reduce range(40) as $i ([1]; [., .])'
  const walks = [
    '.', 'tojson', 'tostring', '@text', '"\\(.)"', '. == map(.)', 'contains([[1]])', 'inside(.)', 'flatten', 'walk(.)', 'sort_by(.) | length', 'unique | length',
    'tostream', 'getpath(["a"])', 'error', '[., .] | min', '{a: .}', '.[0] < .[1]', '[paths] | length', '[..] | length', 'debug',
  ]
  for (const walk of walks) {
    it(`a value that is small in memory and endless as a tree ends at a limit or is seen as a value: ${walk}`, async () => {
      const start = performance.now()
      try {
        const output = await make().compileFilter(`${bomb} | ${walk}`, SITE).evaluate(null, BINDINGS)
        expect(JSON.stringify(output).length).to.be.below(1000)
      } catch (error) {
        expect(SonatinaError.is(error), String(error)).to.equal(true)
      }
      expect(performance.now() - start, 'milliseconds').to.be.below(4000)
    })
  }

  it('a pattern of any length from the data is refused before it is compiled', async () => {
    for (const pattern of ['('.repeat(100_000), `${'(a|'.repeat(20_000)}b${')'.repeat(20_000)}`, `[${'\\w\\d'.repeat(30_000)}]`, '\\p{L}'.repeat(50_000)]) {
      expect((await failureOf('. as $p | "x" | test($p)', pattern)).message).to.include('longer than 4000 characters')
    }
  })

  it('a long text that is found everywhere in a longer one ends at a limit', async () => {
    expect((await failureOf('("a" * 200000) | indices("a" * 100000) | length')).code).to.equal('EXPRESSION_LIMIT')
  })

  it('a text that is too long to exist fails as in jq', async () => {
    expect((await failureOf('"ab" * 1e9')).message).to.equal('Repeat string result too long')
  })

  it('a pattern that backtracks for ever on other engines ends at once', () => {
    const text = `${'a'.repeat(5000)}!`
    expect(make().compileFilter('test("^(a+)+$")', SITE).evaluate(text, BINDINGS)).to.equal(false)
    expect(make().compileFilter('[match("\\\\s+$")]', SITE).evaluate(`${' '.repeat(20_000)}x`, BINDINGS)).to.deep.equal([])
  })

  it('what the linear engine does not have is refused by name when the definition is loaded', () => {
    const refused: Readonly<Record<string, RegExp>> = {
      'test("a(?=b)")': /look-around/, 'test("(a)\\\\1")': /back-reference/, 'test("a++")': /possessive/, 'test("(?>a)")': /atomic/, 'test("a{1001}")': /count over 1000/,
    }
    for (const [text, reason] of Object.entries(refused)) {
      expect(() => make().compileFilter(text, SITE), text).to.throw(ExpressionError).with.property('message').that.matches(reason)
    }
  })

  it('the other engine is bounded by the length of texts', async () => {
    const error = await failureOf('test("a(?=b)")', 'a'.repeat(10_001), { regex: 'backtracking' })
    expect(error.message).to.include('10000')
  })

  it('members such as __proto__ and constructor are data', () => {
    const run = (text: string, input: Json): Json => make().compileFilter(text, SITE).evaluate(input, BINDINGS) as Json
    const input = JSON.parse('{"__proto__": {"polluted": 1}, "a": {"constructor": 2}}') as Json
    expect(run('.constructor, .toString, .a.constructor', input)).to.deep.equal([null, null, 2])
    expect(run('.__proto__.polluted', input)).to.equal(1)
    for (const text of [
      '.__proto__.x = 1', 'setpath(["__proto__","y"]; 1)', '. * {"__proto__": {"z": 1}}', '{"__proto__": 1} + .', '[{key: "__proto__", value: {w: 1}}] | from_entries',
      '.a.__proto__ |= {v: 1}', 'reduce ("__proto__") as $k ({}; .[$k].u = 1)', 'with_entries(.value = {t: 1})', '{("__proto__"): {s: 1}}', 'map_values({r: 1})', 'walk(.)', 'del(.__proto__)',
    ]) {
      const output = run(text, input)
      expect(Object.getPrototypeOf(output), text).to.equal(Object.prototype)
      expect(({} as Record<string, unknown>)['polluted'], text).to.equal(undefined)
    }
  })

  it('a text of a mebibyte is refused', () => {
    expect(() => make().compileFilter(`.${' | .'.repeat(400_000)}`, SITE)).to.throw(DefinitionError)
  })

  it('deep nesting of a program is refused', () => {
    for (const text of ['('.repeat(30_000), '['.repeat(30_000), '-'.repeat(60_000), `${'1+'.repeat(30_000)}1`, `${'.|'.repeat(30_000)}.`, `${'if . then '.repeat(5000)}1${' end'.repeat(5000)}`, '"\\('.repeat(15_000)]) {
      try {
        void make().compileFilter(text, SITE).evaluate(null, BINDINGS)
      } catch (error) {
        expect(SonatinaError.is(error), String(error)).to.equal(true)
      }
    }
  })

  it('deep nesting of data is followed or refused', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const deep = JSON.parse(text) as Json
    for (const program of ['.. | empty', 'tojson | length', 'flatten', '. == .', '[., .] | sort | length', 'walk(.)', '[paths] | length', 'contains(.)', '[tostream] | length', '. as $x | [$x] | unique | length']) {
      try {
        void make().compileFilter(program, SITE).evaluate(deep, BINDINGS)
      } catch (error) {
        expect(SonatinaError.is(error), `${program}: ${String(error)}`).to.equal(true)
      }
    }
  })

  it('lone surrogates do no harm', () => {
    expect(make().compileFilter('[., length, tojson, explode[0], (. + "x" | test("x"))]', SITE).evaluate('\ud800', BINDINGS)).to.be.an('array')
  })

  it('secrets cannot be listed, printed, merged or passed on', () => {
    for (const text of ['$SECRET', '$SECRET | keys', '$SECRET | tojson', '[$SECRET | ..]', '. + $SECRET', '$SECRET as $s | $s.token', '$SECRET[.key]', '{s: $SECRET}', '$SECRET[]', '$SECRETS', '"\\($SECRET)"', 'def f(x): x; f($SECRET)']) {
      expect(() => make().compileFilter(text, SITE), text).to.throw(ExpressionError)
    }
  })

  it('no error text shows a secret', async () => {
    for (const text of ['$SECRET.token + 1', '$SECRET.token | tonumber', 'error($SECRET.token)', '$SECRET.token | .[0]', '{a: $SECRET.token} | keys | .a | $SECRET.token - 1', '("Bearer " + $SECRET.token) | fromjson', '$SECRET.token | error("x\\(.)y")', '[$SECRET.token] | .a', '$SECRET.token | strptime("%Y")', '{($SECRET.token): 1} | .[0]', '$SECRET.token | @base64 | tonumber']) {
      const error = await failureOf(text)
      const shown = JSON.stringify(error) + error.message
      for (const part of [SECRET, SECRET.slice(0, 8), Buffer.from(SECRET).toString('base64').slice(0, 12)]) expect(shown, text).to.not.include(part)
    }
  })

  it('functions that refer to each other without end are refused', () => {
    const functions = new Map([['a', 'fn:b'], ['b', '${ fn:a }']])
    expect(() => make({ functions }).compileFilter('fn:a', SITE)).to.throw(DefinitionError, 'a -> b -> a')
    expect(() => make({ functions }).compileFilter('fn:none', SITE)).to.throw(DefinitionError, 'known: a, b')
  })

  /** Runs a program; it gives a value or ends in a named error, and soon. */
  async function endsSoon(language: 'jq' | 'jsonata' | 'jsonpath', text: string, input: Json): Promise<SonatinaError | undefined> {
    const start = performance.now()
    try {
      await make({ language, variables: [] }).compileFilter(text, SITE).evaluate(input, BINDINGS)
      return undefined
    } catch (error) {
      expect(SonatinaError.is(error), String(error)).to.equal(true)
      return error as SonatinaError
    } finally {
      expect(performance.now() - start, 'milliseconds').to.be.below(4000)
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined)
    }
  }

  const rows: readonly Json[] = Array.from({ length: 100_000 }, (_, a) => ({ a }))
  const nested = (depth: number, width: number): Json => depth === 0 ? 1 : Array.from({ length: width }, () => nested(depth - 1, width))
  const doubled = '($f := function($s, $n) { $n = 0 ? $s : $f({"a": $s, "b": $s}, $n - 1) }; $x := $f({}, 40); '

  const limited: readonly (readonly [string, Json])[] = [
    ['($f := function($x) { $f($x) }; $f(1))', null], ['($f := function($x) { $f($x) + 1 }; $f(1))', null], ['[1..10000000]', null], ['[1..1000].[1..1000000]', null],
    ['$pad("x", 1000000000)', null], ['$map([1..1000], function($i) { $pad("x", 60000000) })', null], ['$reduce([1..1000000], $append)', null], ['$map([1..1000000], $string)', null],
    ['$split(a, /./)', { a: 'x'.repeat(8_000_000) }], ['$contains(a, b)', { a: 'a'.repeat(4_000_000), b: `b${'a'.repeat(2_000_000)}` }], ['$replace(a, /a.*?b|./, "x")', { a: 'a'.repeat(60_000) }],
    ['$count(*)', Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`k${String(key)}`, [key]]))], ['a@$x.a@$y.a@$z.{"r": 1}', { a: rows.slice(0, 3000) }],
    ['$toMillis(a, "[Y][M][D][d][F1][W][w][X][x][H][h][m][s][f][f][f][f][f]")', { a: `${'1'.repeat(60)}x` }], ['$toMillis(a, p)', { a: `${'a'.repeat(60)}1`, p: '[FN]'.repeat(30) }],
    [`($a := {"x": 1}; ${'$a := {"p": $a, "q": $a}; '.repeat(60)}$string($a))`, null],
    ...['$x)', '$string($x))', '$x & "")', '$x = $f({}, 40))', '$x ~> |$|{"z": 1}|)', '$distinct([$x, $f({}, 30)]))', '$count($x.**))', '$clone($x))'].map((end): [string, Json] => [doubled + end, null]),
    ['($f := function($s, $n) { $n = 0 ? $s : $f($map([1, 2], function($i) { $s }), $n - 1) }; $string($f({"a": 1}, 40)))', null], ['($f := function($s, $n) { $n = 0 ? $s : $f($zip($s, $s), $n - 1) }; $string($f([1], 40)))', null],
  ]
  for (const [text, input] of limited) {
    it(`JSONata ends at a limit: ${text.slice(0, 60)} … ${text.slice(-20)}`, async () => {
      expect((await endsSoon('jsonata', text, input))?.code).to.equal('EXPRESSION_LIMIT')
    })
  }

  const refusedCalls: readonly (readonly [string, Json])[] = [
    ['$eval("1")', null], ['$fromMillis(1, p)', { p: '[Y0001]'.repeat(100_000) }], ['$fromMillis(1, "[Y,1000000000]")', null], ['$now(p)', { p: '[Y]'.repeat(1000) }],
    ['$formatNumber(1, p)', { p: '#'.repeat(1_000_000) }], ['$formatNumber(1, "0", {"grouping-separator": ""})', null], ['$formatNumber(0, "0", {"zero-digit": ""})', null], ['$formatNumber($sum([1e308, 1e308]), "0e0")', null],
    ['$formatInteger(1, p)', { p: '0,'.repeat(100_000) }], ['$formatInteger($sum([1e308, 1e308]), "A")', null], ['$parseInteger("1", p)', { p: '0'.repeat(2000) }],
    ['$match(a, /(((a{0,9}b?){0,9}c?){0,9}d?){0,1}$/)', { a: 'a'.repeat(1_000_000) }],
  ]
  for (const [text, input] of refusedCalls) {
    it(`JSONata refuses ${text}`, async () => {
      expect((await endsSoon('jsonata', text, input))?.code).to.equal('EXPRESSION_FAILED')
    })
  }

  it('JSONata goes through large data, or ends at a limit', async () => {
    for (const [text, input] of [
      ['$count($distinct($))', rows], ['$count($spread($))', rows], ['$count($sort([1..1000000]))', null], ['$^(>a)[0]', rows], ['$[a in $$.a]', rows], ['$keys($)', rows], ['$merge($)', rows], ['**.**.**.**', nested(4, 10)],
      ['$string($, true)', nested(5, 12)], ['$ & ""', nested(5, 12)], ['$parseInteger(a, "w")', { a: 'one hundred '.repeat(50_000) }], ['$formatInteger(1e15, "I")', null], ['$match(a, /(a+)+$/)', { a: `${'a'.repeat(30_000)}!` }], ['$split(a, "")', { a: 'x'.repeat(1_000_000) }],
      ['{"__proto__": {"polluted": 1}}', {}], ['$merge([{"__proto__": {"polluted": 1}}])', {}], ['$ ~> |$|{"__proto__": {"polluted": 2}}|', { a: 1 }], ['constructor.constructor("return 1")()', {}], ['('.repeat(20_000), null], [`${'-'.repeat(50_000)}1`, null], [`${'a.'.repeat(10_000)}a`, null],
    ] as const) await endsSoon('jsonata', text, input)
  })

  it('guards leave the functions of JSONata what they are', async () => {
    const run = (text: string, input: Json = null): unknown => make({ language: 'jsonata', variables: [] }).compileFilter(text, SITE).evaluate(input, BINDINGS)
    const expected: readonly (readonly [string, Json])[] = [
      ['$pad(?, 5)("x")', 'x    '], ['$pad("x", -5, "ab")', 'ababx'], ['($first := $substring(?, 0, 2); $first("hello"))', 'he'], ['"ab" ~> $uppercase ~> $length', 2], ['$map(["a", "b"], $uppercase)', ['A', 'B']],
      ['$distinct([1, "1", 1, {"a": 1, "b": [2]}, {"b": [2], "a": 1}, null, null])', [1, '1', { a: 1, b: [2] }, null]], ['$spread([{"a": 1, "b": 2}, 3])', [{ a: 1 }, { b: 2 }, 3]], ['$spread({"a": 1})', { a: 1 }],
      ['$sort(["b", "a"])', ['a', 'b']], ['$sort([3, 1, 2], function($l, $r) { $l < $r })', [3, 2, 1]], ['$base64decode($base64encode("x"))', 'x'], ['$toMillis("20240102T030405006", "[Y0001][M01][D01]T[H01][m01][s01][f001]")', 1_704_164_645_006],
      ['$toMillis("2nd March 2024", "[D1o] [MNn] [Y]")', 1_709_337_600_000], ['$fromMillis(0, "[FNn], [D1o] [MNn] [Y]")', 'Thursday, 1st January 1970'], ['$formatNumber(1234.5, "#,##0.00")', '1,234.50'],
    ]
    for (const [text, output] of expected) expect(await run(text), text).to.deep.equal(output)
    expect(SonatinaError.is(await Promise.resolve(run('$sort([1, "a"])')).catch((error: unknown) => error))).to.equal(true)
  })

  it('JSONPath goes through large data, or ends at a limit', async () => {
    const deep = JSON.parse('{"a":'.repeat(50_000) + '1' + '}'.repeat(50_000)) as Json
    for (const [text, input] of [
      ['$..[?(@..x)]', nested(5, 12)], ['$..[?(@..*[?(@..x)])]', nested(4, 12)], ['$..*..*..*', nested(4, 14)], ['$[*,*,*,*,*,*,*,*][*,*,*,*,*,*,*,*][*,*,*,*,*,*,*,*][*,*,*,*,*,*,*,*]', nested(4, 20)], [`$${'[0]'.repeat(10_000)}`, nested(2, 2)],
      [`$${'[?@'.repeat(500)}${']'.repeat(500)}`, [1]], [`$${'[?('.repeat(3000)}`, [1]], ['$[0:1000000000:1]', [1, 2]], ['$..x', deep], ['$[?@ == $]', rows], ['$[?count($..*) > 5]', nested(3, 30)], ['$[?match(@.a, "(a+)+$")]', [{ a: `${'a'.repeat(50_000)}!` }]],
      ['$.__proto__', {}], ['$["constructor"]["prototype"]', {}], ['$..__proto__', {}],
    ] as const) await endsSoon('jsonpath', text, input)
  })

  it('JSONPath ends at its limits', async () => {
    const wide = Array.from({ length: 300 }, () => Array.from({ length: 300 }, (_, index) => ({ index })))
    const error = await failureOf('$..*..*..*', wide, { language: 'jsonpath', limits: { timeout: 20 } })
    expect(error.code).to.equal('EXPRESSION_LIMIT')
    expect(() => make({ language: 'jsonpath' }).compileFilter('$..a..b..c..d', SITE)).to.throw(ExpressionError)
  })
})
