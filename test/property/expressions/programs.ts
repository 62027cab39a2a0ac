import fc from 'fast-check'

const LITERALS = ['null', 'true', 'false', '0', '1', '2', '-1', '2.5', '"a"', '"b"', '"ab"', '""', '[]', '{}', '[1,2]', '["b","a"]', '{"a":1}', '[[1],[2]]']
// One slice only: jq takes two slices of one array for equal when they have the same length.
const PATHS = ['.', '.a', '.b', '.a.b', '.[0]', '.[1]', '.[-1]', '.[1:]', '.["a"]', '.[]', '.[]?', '.a?', '..', '.a[]?', '.[0]?', 'first', 'last']
const NULLARY = [
  'length', 'keys', 'keys_unsorted', 'not', 'type', 'add', 'any', 'all', 'flatten', 'reverse', 'sort', 'unique', 'min', 'max', 'to_entries',
  'from_entries', 'tojson', 'tostring', 'ascii_downcase', 'ascii_upcase', 'explode', 'trim', 'ltrim', 'rtrim', 'floor', 'sqrt', 'abs',
  'toboolean', 'values', 'nulls', 'strings', 'numbers', 'arrays', 'objects', 'iterables', 'scalars', 'booleans', 'empty', 'error', 'transpose',
  'tostream', 'paths', 'isempty(.[]?)', 'utf8bytelength', 'combinations', '@text', '@json', '@csv', '@tsv', '@html', '@uri', '@sh', '@base64', 'tonumber', 'implode', 'recurse', 'env | type', 'fromjson', 'getpath(["a","b"])',
]
const UNARY = [
  'map', 'map_values', 'select', 'sort_by', 'group_by', 'unique_by', 'min_by', 'max_by', 'any', 'all', 'has', 'contains', 'inside', 'index',
  'rindex', 'indices', 'split', 'join', 'startswith', 'endswith', 'ltrimstr', 'rtrimstr', 'trimstr', 'flatten', 'path', 'del', 'to_entries|map', 'with_entries',
  'first', 'last', 'isempty', 'error', 'add', 'getpath', 'delpaths', 'paths', 'pick', 'walk', 'IN', 'in', 'nth', 'bsearch', 'tojson|contains', 'fromstream', 'limit(2;.[]?)|map',
]
const OPERATORS = ['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=', 'and', 'or', '//']
const UPDATES = ['=', '|=', '+=', '-=', '*=', '/=', '//=']

/** Texts of random jq programs; each of them is syntactically right, most of them fail on most inputs. */
export const programs: fc.Arbitrary<string> = fc.letrec<{ program: string; term: string }>((tie) => ({
  program: fc.oneof(
    { maxDepth: 3, depthSize: 'xsmall' },
    tie('term'),
    fc.tuple(tie('program'), tie('program')).map(([left, right]) => `${left} | ${right}`),
    fc.tuple(tie('term'), tie('program')).map(([left, right]) => `${left}, ${right}`),
    fc.tuple(tie('term'), fc.constantFrom(...OPERATORS), tie('term')).map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc.tuple(fc.constantFrom(...PATHS), fc.constantFrom(...UPDATES), tie('term')).map(([path, operator, value]) => `(${path} ${operator} ${value})`),
    fc.tuple(tie('program'), fc.constantFrom(...UPDATES), tie('term')).map(([path, operator, value]) => `((${path}) ${operator} ${value})`),
    fc.tuple(tie('term'), tie('program')).map(([source, body]) => `${source} as $x | ${body}`),
    fc.tuple(tie('term'), tie('program')).map(([source, body]) => `${source} as [$x, {a: $y}] | ($x, $y), (${body})`),
    fc.tuple(tie('program'), tie('program')).map(([body, rest]) => `def f: ${body}; ${rest} | f`),
    fc.tuple(tie('program'), tie('term')).map(([body, argument]) => `def g(h; $v): h | ($v, (${body})); g(${argument}; ${argument})`),
  ),
  term: fc.oneof(
    { maxDepth: 3, depthSize: 'xsmall' },
    fc.constantFrom(...PATHS),
    fc.constantFrom(...LITERALS),
    fc.constantFrom(...NULLARY).map((name) => `(${name})`),
    fc.tuple(fc.constantFrom(...UNARY), tie('program')).map(([name, argument]) => `(${name}(${argument}))`),
    tie('program').map((body) => `[${body}]`),
    tie('program').map((body) => `(${body})`),
    fc.tuple(tie('term'), tie('term')).map(([first, second]) => `{a: ${first}, b: ${second}}`),
    fc.tuple(tie('term'), tie('term')).map(([key, value]) => `{(${key}): ${value}}`),
    tie('term').map((body) => `(-${body})`),
    tie('program').map((body) => `"x\\(${body})y"`),
    tie('program').map((body) => `(try (${body}) catch .)`),
    tie('term').map((body) => `(${body})?`),
    fc.tuple(tie('program'), tie('term'), tie('term')).map(([condition, then, otherwise]) => `if ${condition} then ${then} else ${otherwise} end`),
    fc.tuple(tie('term'), fc.constantFrom('.', 'null', '[]', '0', '{}', '""'), tie('term')).map(([source, init, update]) => `(reduce ${source} as $x (${init}; ${update}))`),
    fc.tuple(tie('term'), tie('term'), tie('term')).map(([source, init, update]) => `(foreach ${source} as $x (${init}; ${update}; [$x, .]))`),
    fc.tuple(tie('term')).map(([body]) => `(label $out | ${body} | (., break $out))`),
    fc.tuple(fc.nat(3), tie('program')).map(([count, body]) => `(limit(${count}; ${body}))`),
    fc.tuple(fc.nat(3), tie('program')).map(([count, body]) => `(skip(${count}; ${body}))`),
  ),
})).program

/** Inputs that random programs run on. */
export const INPUTS: readonly unknown[] = [
  null, true, false, 0, 1, -2.5, 'abc', 'a,b', '', [], [1, 2, 3], [[1], [2, 3]], {}, { a: 1, b: [1, 2] }, { a: { b: 2 } },
  [{ a: 1 }, { a: 2, b: null }], ['b', 'a', 'b'], [{ key: 'k', value: 1 }, { name: 'n' }], [null, true, 'x', [1], { a: 1 }], { b: 'é😀', a: [[]] },
]
