/** One step of a scenario, its placeholders filled in. */
export interface Step {
  readonly text: string
  readonly docString?: string
  readonly table?: readonly (readonly string[])[]
}

/** One scenario; an outline gives one for each row of its examples. */
export interface Scenario {
  readonly feature: string
  readonly name: string
  /** Steps of the background first. */
  readonly steps: readonly Step[]
}

interface Block {
  readonly kind: 'background' | 'scenario'
  readonly name: string
  readonly steps: Step[]
  examples: string[][]
}

/** Reads a Gherkin file: the part of the language that protocol binding features use. */
export function parseFeature(text: string): Scenario[] {
  const lines = text.split(/\r?\n/)
  const blocks: Block[] = []
  let feature = ''
  let inExamples = false
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index]?.trim() ?? ''
    const block = blocks.at(-1)
    const heading = /^(Feature|Background|Scenario Outline|Scenario Template|Scenario|Example|Examples|Scenarios):\s*(.*)$/.exec(line)
    if (heading !== null) {
      const [, keyword = '', name = ''] = heading
      inExamples = keyword === 'Examples' || keyword === 'Scenarios'
      if (keyword === 'Feature') feature = name
      else if (!inExamples) blocks.push({ kind: keyword === 'Background' ? 'background' : 'scenario', name, steps: [], examples: [] })
    } else if (line.startsWith('|') && block !== undefined) {
      const cells = line.replace(/^\||\|\s*$/g, '').split('|').map((cell) => cell.trim())
      if (inExamples) block.examples.push(cells)
      else appendToStep(block, (step) => ({ ...step, table: [...step.table ?? [], cells] }))
    } else if (line.startsWith('"""') && block !== undefined) {
      const indent = lines[index]?.indexOf('"""') ?? 0
      const end = lines.findIndex((other, at) => at > index && other.trim().startsWith('"""'))
      const docString = lines.slice(index + 1, end).map((one) => one.slice(Math.min(indent, one.length - one.trimStart().length))).join('\n')
      appendToStep(block, (step) => ({ ...step, docString }))
      index = end
    } else {
      const step = /^(?:Given|When|Then|And|But)\s+(.*)$/.exec(line)
      if (step?.[1] !== undefined) block?.steps.push({ text: step[1] })
    }
  }
  return toScenarios(feature, blocks)
}

function appendToStep(block: Block, change: (step: Step) => Step): void {
  const last = block.steps.pop()
  if (last !== undefined) block.steps.push(change(last))
}

function toScenarios(feature: string, blocks: readonly Block[]): Scenario[] {
  const background = blocks.filter(({ kind }) => kind === 'background').flatMap(({ steps }) => steps)
  return blocks.filter(({ kind }) => kind === 'scenario').flatMap(({ name, steps, examples: [header = [], ...rows] }) => {
    const all = [...background, ...steps]
    if (rows.length === 0) return [{ feature, name, steps: all }]
    return rows.map((row) => {
      const fill = (given: string): string => header.reduce((result, key, column) => result.replaceAll(`<${key}>`, row[column] ?? ''), given)
      return { feature, name: fill(name), steps: all.map((step) => fillStep(step, fill)) }
    })
  })
}

function fillStep(step: Step, fill: (text: string) => string): Step {
  return {
    text: fill(step.text),
    ...(step.docString === undefined ? {} : { docString: fill(step.docString) }),
    ...(step.table === undefined ? {} : { table: step.table.map((row) => row.map(fill)) }),
  }
}
