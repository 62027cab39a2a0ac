import { expect } from 'chai'
import { ExpressionError } from '../../../lib/errors/index.ts'
import { createRandomIdSource, createSystemClock, silentLogger, type Logger } from '../../../lib/common/index.ts'
import { createExpressions, type ExpressionLanguageName, type ExpressionsOptions } from '../../../lib/expressions/index.ts'
import { make, SITE } from './support.ts'

/** One kind of fault: the text with `¦` before the place of the caret, what is told, and the hint. */
type Row = readonly [text: string, reason: string, hint: string]

const JQ: readonly Row[] = [
  // something is missing
  ['.a |¦', 'the expression ends too early', 'write what stands behind "|", such as .name'],
  ['.a +¦', 'the expression ends too early', 'write what stands behind "+", such as .name'],
  ['.a ==¦', 'the expression ends too early', 'write what stands behind "==", such as .name'],
  ['.a //=¦', 'the expression ends too early', 'write what stands behind "//=", such as .name'],
  ['.a[¦', 'the expression ends too early', 'write what belongs into the brackets, and ] where they end'],
  ['.a[0¦', 'the expression ends too early, expected "]"', 'write "]" there'],
  ['[1, 2¦', 'the expression ends too early, expected "]"', 'write "]" there'],
  ['(.a¦', 'the expression ends too early, expected ")"', 'write ")" there'],
  ['{a: 1¦', 'the expression ends too early, expected "}"', 'write "}" there'],
  ['{a:¦}', 'unexpected "}"', 'write what stands behind ":", such as .name'],
  ['{¦:1}', 'unexpected ":", expected a key', 'a colon stands between a key and its value: {key: .name}'],
  ['.a | ¦| .b', 'unexpected "|"', 'for a logical or write "or"'],
  ['¦| .b', 'unexpected "|"', 'write a filter before the |, such as .name'],
  ['.a.¦', 'the expression ends too early', 'write a name behind the dot, such as .name, or remove the dot'],
  ['¦* 2', 'unexpected "*"', 'write what stands before "*", such as .name'],
  ['2 + ¦* 2', 'unexpected "*"', 'write what stands between "*" and "+", such as .name'],
  ['sub("a";¦)', 'unexpected ")"', 'write what stands behind ";", such as .name'],
  ['sub(¦;"a")', 'unexpected ";"', 'an argument is missing: functions are called as f(.a; .b)'],
  ['if .a then 1¦', 'the expression ends too early, expected "elif", "else" or "end"', 'write "end" where the condition ends'],
  ['if .a then 1 else 2¦', 'the expression ends too early, expected "end"', 'write "end" there'],
  ['if .a¦', 'the expression ends too early, expected "then"', 'write "then" there'],
  ['reduce .[] as $x (0¦)', 'unexpected ")", expected ";"', 'no "(" is open here: remove it, or close what was opened behind the "("'],
  ['reduce .[] ¦(0; 1)', 'unexpected "(", expected "as"', 'write an operand on both sides of "(", or remove it'],
  ['. as ¦x | x', 'unexpected "x", expected "{"', 'join filters with |, or put the text in quotes'],
  ['label ¦x | 1', 'unexpected "x", expected a variable', 'join filters with |, or put the text in quotes'],
  ['def f: 1¦', 'the expression ends too early, expected ";"', 'write ";" there'],
  ['def ¦: 1; .', 'unexpected ":", expected a name', 'a colon stands between a key and its value: {key: .name}'],
  ['¦"abc', 'the text in quotes has no closing quote', 'write " where the text ends'],
  ['"a\\(.b¦"', 'unexpected text in quotes, expected ")"', 'join the two with | or an operator, or separate them with a comma'],
  // something is too much
  ['.a = ¦= 1', 'unexpected "="', 'for equality write =='],
  ['.a ==¦= 1', 'unexpected "="', 'for equality write =='],
  ['.a //¦/ 1', 'unexpected "/"', 'the alternative operator is //; a comment begins with #'],
  ['.a == 1 ¦== 2', '== and == cannot be chained', 'put one of them into parentheses'],
  ['.a ¦)', 'unexpected ")"', 'no "(" is open here: remove it, or close what was opened behind the "("'],
  ['.a ¦]', 'unexpected "]"', 'no "[" is open here: remove it, or close what was opened behind the "["'],
  ['.a ¦; .b', 'unexpected ";"', 'a semicolon stands only between the arguments of a function: f(.a; .b)'],
  ['.a ¦: 1', 'unexpected ":"', 'a colon stands between a key and its value: {key: .name}'],
  ['it ¦was heads', 'unexpected "was"', 'join filters with |, or put the text in quotes'],
  ['.a ¦5', 'unexpected "5"', 'join the two with | or an operator, or separate them with a comma'],
  ['.a ¦$x', 'unexpected "$x"', 'join the two with | or an operator, or separate them with a comma'],
  ['.a ¦end', 'unexpected "end"', '"end" belongs to if … then … else … end; as a field write ."end"'],
  ['1 + ¦catch', 'unexpected "catch"', '"catch" is a word of jq; as a field write ."catch"'],
  ['{¦1: 2}', 'a number cannot be a key: 1', 'write "1"'],
  ['{(¦1): 2}', 'cannot use number (1) as object key', 'keys are texts'],
  // characters that mean nothing
  ['.a == ¦\'x\'', 'unexpected "\'"', 'jq writes texts in double quotes'],
  ['.a == ¦“x”', 'unexpected "“"', 'write plain double quotes "'],
  ['.a == ¦`x`', 'unexpected "`"', 'write plain double quotes "'],
  ['.a ¦&& .b', 'unexpected "&"', 'write "and"'],
  ['.a |¦| .b', 'unexpected "|"', 'for a logical or write "or"'],
  ['¦!.a', 'unexpected "!"', 'write "not" behind a pipe: (… | not)'],
  ['¦$ x', 'unexpected "$"', 'a variable is $name, without a blank'],
  ['¦@ x', 'unexpected "@"', 'a format is @name, such as @base64'],
  ['.a ¦~ .b', 'unexpected "~"', 'it means nothing in jq; texts stand in double quotes'],
  ['"a¦\\q"', 'invalid escape: \\q', 'write \\\\ for a backslash'],
  ['"a¦\\u12"', 'invalid escape: \\u takes four hexadecimal digits', 'such as \\u00e9; write \\\\ for a backslash'],
  // names
  ['.a | ¦lenght', 'lenght/0 is not defined', 'did you mean length?'],
  ['¦sotr', 'sotr/0 is not defined', 'did you mean sort?'],
  ['¦heads', 'heads/0 is not defined', 'for text write "heads" in quotes'],
  ['¦foo(1; 2)', 'foo/2 is not defined', 'define it before it is used: def foo(p1; p2): …;'],
  ['¦map', 'map/0 is not defined', 'there is map/1 (the number counts arguments)'],
  ['.flip - ¦coin', 'coin/0 is not defined', 'a field with a dash is written in quotes: ."flip-coin"'],
  ['¦$nope', '$nope is not defined', 'known: $WORKFLOW, $CONST, $SECRET, $SECRETS, $item'],
  ['¦$itme', '$itme is not defined', 'did you mean $item?'],
  ['¦$SECRET', '$SECRET cannot be listed, printed or passed on', 'read one key of it: $SECRET.name'],
  ['¦$SECRET[.a]', 'a key of $SECRET must be written out, not computed', 'write $SECRET."a.b", or set sonatina.expressions.dynamic-secrets=true'],
  ['¦break $out', 'label $out is not defined', 'write "label $out | …" around it'],
  ['¦@base65', '@base65 is not a format', 'known: @text, @json, @csv, @tsv, @html, @uri, @urid, @sh, @base64, @base64d, @base32, @base32d'],
  ['¦import "a" as a; .', 'modules are not available: import', 'put the functions into the expression'],
  ['¦modulemeta', 'modules are not available: modulemeta', 'put the functions into the expression'],
  // regular expressions
  ['test(¦"(?=x)")', 'the regular expression uses (?=, look-around', 'rewrite it without, or set sonatina.expressions.regex=backtracking for trusted definitions'],
  ['test(¦"[a")', 'premature end of char-class', 'write ] where the class ends; the character itself is \\['],
  ['test(¦"(a")', 'missing closing ): `(a`', 'patterns are in Perl syntax; a backslash in a text of the expression is written twice'],
  ['test(¦"a"; "z")', 'z is not a valid modifier string', 'flags are g, i, x, s, n, l and p'],
  // depth
  [`${'['.repeat(400)}¦[1`, 'the expression is nested too deeply', 'split it into several steps, or into expression functions'],
]

const JSONATA: readonly Row[] = [
  ['a +¦', 'Unexpected end of expression', 'write what stands behind the last operator, such as a field name'],
  ['a[¦', 'Expected "]" before end of expression', 'write ] there'],
  ['{"a" ¦1}', 'Expected ":", got 1', 'write : before it, or remove it'],
  ['a = ¦= 1', 'The symbol "=" cannot be used as a unary operator', 'write what stands before it; for equality write =, for "and" write and'],
  ['"abc¦', 'String literal must be terminated by a matching quote', 'write the closing quote where the text ends'],
  ['function(¦x){1}', 'Parameter 1 of function definition must be a variable name (start with $)', 'variables begin with $: $name'],
  ['¦1 := 2', 'The left side of := must be a variable name (start with $)', 'variables begin with $: $name := …'],
  ['a.¦1', 'The literal value 1 cannot be used as a step within a path expression', 'a field name that is a number stands in backquotes: a.`1`; an index in brackets: a[1]'],
  ['1 + ¦%.a', 'The object representing the \'parent\' cannot be derived from this expression', '% is the parent of a step and needs a path before it, such as a.b.{"c": %.d}'],
  ['a ¦b', 'Syntax error: "b"', 'join expressions with an operator; several steps stand in ( … ; … )'],
  ['$match(a, ¦/(?=x)/)', 'the regular expression uses (?=, look-around', 'rewrite it without, or set sonatina.expressions.regex=backtracking for trusted definitions'],
  ['¦$nope + 1', '$nope is not defined', 'known: $WORKFLOW, $CONST, $SECRET, $SECRETS, $item'],
  ['$map(a, function($v) { ¦$w })', '$w is not defined', 'did you mean $v?'],
  ['¦$lenght(a)', '$lenght is not defined', 'did you mean $length?'],
  ['¦$SECRET', '$SECRET cannot be listed, printed or passed on', 'read one key of it: $SECRET.name'],
]

const JSONPATH: readonly Row[] = [
  ['¦name', 'this is no JSONPath', 'a path starts with $, such as $.name'],
  ['$.a¦[?', '[ is not closed', 'write ] where it ends'],
  ['$.a[?@.b ==¦]', 'unexpected end of expression', 'write what stands behind the last operator, such as @.name'],
  ['$.a[?¦foo(@.b)]', 'no such function \'foo\'', 'RFC 9535 has length, count, match, search and value'],
  ['$.a[?¦length(@.b)]', 'result of length()  must be compared', 'compare it: length(@.name) > 2'],
  ['$.a[?@.b ¦= 1]', 'unexpected filter selector token \'=\'', 'for equality write =='],
  ['$.a[¦b]', 'unexpected token \'b\' in bracketed selection', 'names in brackets stand in quotes: ["name"]'],
  ['$.a[¦01]', 'leading zero in index selector', 'an index is a whole number without leading zeros, up to 2^53'],
  ['$.a¦[]', 'empty bracketed segment', 'write an index, a name in quotes, * or a filter between the brackets'],
  ['$.a¦ + 1', 'unexpected "+"', 'JSONPath selects and does not compute; put comparisons into a filter [?(…)]'],
  ['$.a¦[(@.length-1)]', 'script expressions [(…)] are not part of RFC 9535', 'use an index or a filter [?(…)]'],
  ['¦$..a..b..c..d', 'a path may have at most 3 ".."', 'name the steps between, or select in two steps'],
  ['¦$nope.a', '$nope is not defined', 'known: $WORKFLOW, $CONST, $SECRET, $SECRETS, $item'],
  ['¦$SECRET', '$SECRET cannot be listed, printed or passed on', 'read one key of it: $SECRET.name'],
]

const OPTIONS: Partial<ExpressionsOptions> = { variables: ['item'] }

function faultOf(language: ExpressionLanguageName, text: string): Readonly<Record<string, unknown>> {
  try {
    make({ ...OPTIONS, language }).compileFilter(text, SITE)
  } catch (error) {
    if (error instanceof ExpressionError) return error.details
    throw error
  }
  throw new Error(`${text} compiled`)
}

describe('faults of expressions say what, where and what would be right', () => {
  for (const [language, rows] of Object.entries({ jq: JQ, jsonata: JSONATA, jsonpath: JSONPATH })) {
    for (const [marked, reason, hint] of rows) {
      it(`${language}: ${marked.length > 60 ? `${marked.slice(0, 20)}…` : marked}`, () => {
        const at = marked.indexOf('¦')
        const fault = faultOf(language as ExpressionLanguageName, marked.replace('¦', ''))
        expect({ reason: fault['reason'], hint: fault['hint'], offset: fault['offset'] }).to.deep.equal({ reason, hint, offset: at })
      })
    }
  }

  it('functions of JSONata that are known are those of the library', async () => {
    const { BUILTINS } = await import('../../../lib/expressions/jsonata/names.ts')
    const expressions = make({ language: 'jsonata' })
    for (const name of BUILTINS) {
      const text = name === 'now' || name === 'millis' ? `$exists($${name}())` : `$exists($${name})`
      expect(await expressions.compileFilter(text, SITE).evaluate({}, { read: () => undefined }), name).to.equal(true)
    }
  })

  it('names that a JSONata program binds itself are no faults', () => {
    for (const text of [
      '($f := function($x) { $x + 1 }; $f(2))', 'a@$v#$i.{"v": $v, "i": $i}', 'a#$i[$i < 2]', '$map(a, $string)', '$item.a', '$$.a', '$.a', 'a ~> $sum',
    ]) expect(() => make({ ...OPTIONS, language: 'jsonata' }).compileFilter(text, SITE), text).not.to.throw()
  })

  it('an assignment as a condition is refused in profile spec, and warned of in profile sonataflow', () => {
    const sites = { clock: createSystemClock(), ids: createRandomIdSource(), language: 'jq' as const }
    for (const text of ['.z = 2', '${ .a | .z = 2 }']) {
      expect(() => createExpressions({ ...sites, profile: 'spec' }).compileCondition(text, { pointer: '' }), text).to.throw(ExpressionError)
        .with.property('message').that.matches(new RegExp(`line 1, column ${String(text.indexOf('=') + 1)} .*for equality write ==`, 's'))
    }
    const warnings: string[] = []
    const logger = { ...silentLogger, warn: (_facts: unknown, message: string) => { warnings.push(message) } } as Logger
    createExpressions({ ...sites, profile: 'sonataflow', logger }).compileCondition('.z = 2', { pointer: '' })
    expect(warnings.join()).to.include('write ==')
    expect(() => createExpressions({ ...sites, profile: 'spec' }).compileCondition('.z |= . + 1 | .z == 2', { pointer: '' })).to.not.throw()
    expect(() => createExpressions({ ...sites, profile: 'spec' }).compileFilter('.z = 2', { pointer: '' })).to.not.throw()
  })
})
