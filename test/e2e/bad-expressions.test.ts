import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { validateCommand } from '../../lib/cli/commands/validate.ts'
import { silentLogger } from '../../lib/common/index.ts'
import { createRuntime } from '../../lib/runtime.ts'
import { createFakeIo } from '../unit/cli/io.ts'

/** A definition with five bad expressions; `¦` stands before the character that the caret has to point at, and is taken out. */
interface BadDefinition {
  readonly title: string
  readonly file: string
  readonly text: string
  /** Message and hint of each fault, in document order. */
  readonly faults: readonly (readonly [pointer: string, message: RegExp, hint: RegExp])[]
}

const HEAD = 'id: bad\nversion: "1.0"\nspecVersion: "0.8"\nstart: A\n'

const DEFINITIONS: readonly BadDefinition[] = [
  {
    title: 'jq in JSON, with escapes before the fault',
    file: 'jq.sw.json',
    text: String.raw`{
  "id": "bad", "version": "1.0", "specVersion": "0.8", "start": "A",
  "functions": [{ "name": "f", "type": "expression", "operation": ".a | ¦lenght" }],
  "states": [
    {
      "name": "A", "type": "operation", "transition": "B",
      "stateDataFilter": { "input": "${'$'}{ \"\u00e9\t\\\"\" + .a[¦ }" },
      "actions": [{ "functionRef": { "refName": "f", "arguments": { "x": "${'$'}{\n  .c +¦ }", "y": 1 } }, "actionDataFilter": { "results": "${'$'}{ ¦$nope }" } }]
    },
    { "name": "B", "type": "inject", "data": { "x": 1 }, "stateDataFilter": { "output": "${'$'}{ if .a then 1¦ }" }, "end": true }
  ]
}`,
    faults: [
      ['/functions/0/operation', /^lenght\/0 is not defined$/, /did you mean length\?/],
      ['/states/0/stateDataFilter/input', /ends too early/, /brackets/],
      ['/states/0/actions/0/functionRef/arguments/x', /ends too early/, /behind "\+"/],
      ['/states/0/actions/0/actionDataFilter/results', /^\$nope is not defined$/, /known: .*\$WORKFLOW/],
      ['/states/1/stateDataFilter/output', /ends too early, expected "elif", "else" or "end"/, /write "end"/],
    ],
  },
  {
    title: 'jq in YAML, in every way a text can be written',
    file: 'jq.sw.yaml',
    text: `${HEAD}states:
  - name: A
    type: switch
    dataConditions:
      - condition: \${ .x ==¦  }
        end: true
      - condition: |
          \${ .y
             | ¦foo(1) }
        end: true
      - condition: >-
          \${ .y and
             .z ==¦= 2 }
        end: true
      - condition: '\${ .it == ¦''no'' }'
        end: true
      - condition: "\${ \\"\\u00e9\\" == .a \\
          ¦&& .b }"
        end: true
    defaultCondition:
      end: true
`,
    faults: [
      ['/states/0/dataConditions/0/condition', /ends too early/, /behind "=="/],
      ['/states/0/dataConditions/1/condition', /^foo\/1 is not defined$/, /def foo\(p1\)/],
      ['/states/0/dataConditions/2/condition', /.*/, /==/],
      ['/states/0/dataConditions/3/condition', /unexpected "'"/, /double quotes/],
      ['/states/0/dataConditions/4/condition', /unexpected "&"/, /write "and"/],
    ],
  },
  {
    title: 'several in one object of arguments',
    file: 'arguments.sw.yaml',
    text: `${HEAD}functions:
  - name: f
    type: expression
    operation: .
states:
  - name: A
    type: operation
    end: true
    actions:
      - functionRef:
          refName: f
          arguments:
            one: \${ .a ¦]}
            two: ['\${ {a¦- 1} }', '\${ .ok }']
            three:
              four: "\${ test(¦\\"(?=x)\\") }"
              five: \${ ¦@base65 }
              six: \${ ¦$SECRET }
`,
    faults: [
      ['/states/0/actions/0/functionRef/arguments/one', /unexpected "\]"/, /no "\[" is open/],
      ['/states/0/actions/0/functionRef/arguments/two/0', /unexpected "-", expected "}"/, /.+/],
      ['/states/0/actions/0/functionRef/arguments/three/four', /look-around/, /regex=backtracking/],
      ['/states/0/actions/0/functionRef/arguments/three/five', /@base65 is not a format/, /known: .*@base64/],
      ['/states/0/actions/0/functionRef/arguments/three/six', /cannot be listed/, /\$SECRET\.name/],
    ],
  },
  {
    title: 'JSONata in JSON',
    file: 'jsonata.sw.json',
    text: String.raw`{
  "id": "bad", "version": "1.0", "specVersion": "0.8", "start": "A", "expressionLang": "jsonata",
  "functions": [{ "name": "f", "type": "expression", "operation": "${'$'}{ ¦$lenght(a) }" }],
  "states": [
    {
      "name": "A", "type": "operation", "transition": "B",
      "stateDataFilter": { "input": "${'$'}{ \"\u00e9\" & a[¦ }", "output": "${'$'}{ ¦$nope.a }" },
      "actions": [{ "functionRef": { "refName": "f", "arguments": { "x": "${'$'}{ c +¦ }" } } }]
    },
    { "name": "B", "type": "inject", "data": { "x": 1 }, "stateDataFilter": { "output": "${'$'}{ a = ¦= 1 }" }, "end": true }
  ]
}`,
    faults: [
      ['/functions/0/operation', /^\$lenght is not defined$/, /did you mean \$length\?/],
      ['/states/0/stateDataFilter/input', /Expected "\]" before end/, /write \] there/],
      ['/states/0/stateDataFilter/output', /^\$nope is not defined$/, /known: /],
      ['/states/0/actions/0/functionRef/arguments/x', /Unexpected end/, /behind the last operator/],
      ['/states/1/stateDataFilter/output', /cannot be used as a unary operator/, /for equality write =/],
    ],
  },
  {
    title: 'JSONPath in YAML',
    file: 'jsonpath.sw.yaml',
    text: `${HEAD}expressionLang: jsonpath
states:
  - name: A
    type: switch
    dataConditions:
      - condition: \${ $.a[?(@.b > 1 && ¦)] }
        end: true
      - condition: "\${ $.a¦ == 'x' }"
        end: true
      - condition: \${ $.list.[¦name] }
        end: true
      - condition: \${ ¦$nope.a }
        end: true
      - condition: \${ $.a¦.length() }
        end: true
    defaultCondition:
      end: true
`,
    faults: [
      ['/states/0/dataConditions/0/condition', /unexpected '\)'/, /.+/],
      ['/states/0/dataConditions/1/condition', /unexpected "="/, /filter/],
      ['/states/0/dataConditions/2/condition', /bracketed selection/, /names in brackets stand in quotes/],
      ['/states/0/dataConditions/3/condition', /^\$nope is not defined$/, /known: /],
      ['/states/0/dataConditions/4/condition', /not part of RFC 9535/, /length\(@/],
    ],
  },
]

interface Place { readonly line: number; readonly column: number }

/** Takes the marks out of a text and tells where they stood. */
function readMarks(marked: string): { readonly text: string; readonly places: readonly Place[] } {
  const places: Place[] = []
  const lines = marked.split('\n').map((line, index) => {
    const parts = line.split('¦')
    parts.slice(0, -1).reduce((column, part) => {
      places.push({ line: index + 1, column: column + part.length })
      return column + part.length
    }, 1)
    return parts.join('')
  })
  return { text: lines.join('\n'), places }
}

describe('e2e: a definition with five bad expressions', () => {
  let root = ''
  beforeEach(async () => { root = await mkdtemp(join(tmpdir(), 'sonatina-')) })
  afterEach(() => rm(root, { recursive: true }))

  for (const { title, file, text: marked, faults } of DEFINITIONS) {
    const { text, places } = readMarks(marked)

    it(`is refused by sonatina validate with each place, caret and hint: ${title}`, async () => {
      await writeFile(join(root, file), text)
      const io = createFakeIo(root)
      expect(await validateCommand([file], io)).to.equal(1)
      const blocks = io.errText().split(/\n(?=\S)/)
      expect(blocks, io.errText()).to.have.length(5)
      blocks.forEach((block, index) => {
        const [head = '', source = '', caret = '', hint = ''] = block.split('\n')
        const { line, column } = places[index] as Place
        const [pointer, message, advice] = faults[index] as (typeof faults)[number]
        expect(head.slice(0, head.indexOf(' ')), block).to.equal(`${file}:${String(line)}:${String(column)}:`)
        expect(head).to.match(new RegExp(`\\(at ${pointer.replaceAll('/', '\\/')}\\)$`))
        expect(head.slice(head.indexOf(' ') + 1).replace(/ \(at .*$/, '')).to.match(message)
        expect(source.slice(caret.indexOf('^')), block).to.equal(text.split('\n')[line - 1]?.slice(column - 1, column - 1 + Math.max(0, source.length - caret.indexOf('^'))))
        expect(hint.replace(/^ {4}hint: /, '')).to.match(advice)
      })
    })

    it(`is refused by the runtime with lines and columns of the file: ${title}`, async () => {
      const runtime = await createRuntime({ root, definitions: [], settings: { 'sonatina.store': 'memory' }, log: silentLogger })
      try {
        const { failures } = await runtime.deploy([{ uri: file, text }])
        const violations = failures[0]?.error.violations ?? []
        expect(violations.map(({ line, column, pointer }) => ({ line, column, pointer }))).to.deep.equal(places.map((place, index) => ({ ...place, pointer: faults[index]?.[0] })))
        expect(failures[0]?.error.message).to.include(`line ${String(places[0]?.line)}:${String(places[0]?.column)} ${String(faults[0]?.[0])}: `)
      } finally {
        await runtime.close(0)
      }
    })
  }

  it('is told for a file outside the working directory with its full path', async () => {
    const { text } = readMarks(DEFINITIONS[0]?.text ?? '')
    await writeFile(join(root, 'bad.sw.json'), text)
    const io = createFakeIo(join(root, 'elsewhere'))
    expect(await validateCommand([join(root, 'bad.sw.json')], io)).to.equal(1)
    expect(io.errText()).to.satisfy((told: string) => told.startsWith(`${join(root, 'bad.sw.json')}:3:`))
  })

  it('is told with the file of the functions when they stand in one of their own', async () => {
    await writeFile(join(root, 'functions.yaml'), 'functions:\n  - name: f\n    type: expression\n    operation: .a +\n')
    await writeFile(join(root, 'main.sw.yaml'), `${HEAD}functions: functions.yaml\nstates:\n  - name: A\n    type: inject\n    data: {}\n    end: true\n`)
    const io = createFakeIo(root)
    expect(await validateCommand(['main.sw.yaml'], io)).to.equal(1)
    expect(io.errText()).to.equal('functions.yaml:4:20: the expression ends too early (at /functions/0/operation)\n        operation: .a +\n                       ^\n    hint: write what stands behind "+", such as .name')
  })

  it('lets a sub-flow use the variable of the loop that calls it, and no other', async () => {
    const loop = `${HEAD.replace('bad', 'loop')}states:\n  - name: A\n    type: foreach\n    inputCollection: .list\n    iterationParam: order\n    actions:\n      - subFlowRef: sub\n    end: true\n`
    const sub = `${HEAD.replace('bad', 'sub')}states:\n  - name: A\n    type: inject\n    data: {x: "\${ $order }"}\n    stateDataFilter: {output: "\${ .x }"}\n    end: true\n`
    await writeFile(join(root, 'loop.sw.yaml'), loop)
    await writeFile(join(root, 'sub.sw.yaml'), sub)
    const io = createFakeIo(root)
    expect([await validateCommand(['.'], io), io.errText()]).to.deep.equal([0, ''])
    await writeFile(join(root, 'sub.sw.yaml'), sub.replace('$order', '$ordre'))
    expect(await validateCommand(['.'], io)).to.equal(1)
    expect(io.errText()).to.match(/\$ordre is not defined[^]*hint: did you mean \$order\?/)
  })
})
