import { spawn } from 'node:child_process'

interface Step {
  readonly name: string
  readonly script: string
}

/** The steps of `npm run check`, cheapest first. */
const STEPS: readonly Step[] = [
  { name: 'types', script: 'types' },
  { name: 'lint', script: 'lint' },
  { name: 'import direction', script: 'imports' },
  { name: 'dead code', script: 'dead-code' },
  { name: 'tests', script: 'test' },
]

/** Runs an npm script, shows its output as it comes and gives it back with the exit code. */
async function run(script: string): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    process.stdout.write(chunk)
  })
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => { resolve(status ?? 1) })
  })
  return { code, output }
}

/** Reads a counter such as `12 passing` from the summary of mocha; 0 when it is not there. */
function count(output: string, word: string): number {
  return Number(new RegExp(`^\\s*(\\d+) ${word}`, 'm').exec(output)?.[1] ?? 0)
}

async function main(): Promise<number> {
  let warnings = 0
  let tests = 'no tests ran'
  for (const step of STEPS) {
    process.stdout.write(`\n== ${step.name}\n`)
    const { code, output } = await run(step.script)
    if (step.script === 'lint') warnings = Number(/(\d+) warnings?\)/.exec(output)?.[1] ?? 0)
    if (step.script === 'test') {
      tests = `${count(output, 'passing')} passed, ${count(output, 'failing')} failed, ${count(output, 'pending')} pending`
      process.stdout.write(`tests: ${tests}\n`)
    }
    if (code !== 0) {
      process.stdout.write(`check failed at "${step.name}": repeat it with npm run ${step.script}\n`)
      return code
    }
  }
  process.stdout.write(`check passed: ${tests}, ${warnings} warnings\n`)
  return 0
}

process.exitCode = await main()
