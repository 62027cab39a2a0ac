import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'

interface Program extends AsyncDisposable {
  readonly pid: number
  /** Resolves with all matches once there are so many. */
  matches(pattern: RegExp, count: number): Promise<readonly RegExpMatchArray[]>
  /** Asks it to stop. @returns exit code and signal */
  stop(): Promise<readonly [number | null, string | null]>
  readonly output: () => string
}

/** Runs test/support/cluster-program/main.ts: two workers without a service. */
function run(scenario: string): Program {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/support/cluster-program/main.ts', scenario], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>
  const changed: (() => void)[] = []
  let output = ''
  const wake = (): void => { for (const look of changed.splice(0)) look() }
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => { output += chunk.toString('utf8'); wake() })
  void ended.then(wake)
  return {
    pid: child.pid!,
    output: () => output,
    async matches(pattern, count) {
      for (;;) {
        const found = [...output.matchAll(pattern)]
        if (found.length >= count) return found
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it has ended with ${String(child.exitCode)}:\n${output}`)
        await new Promise<void>((resolve) => { changed.push(resolve) })
      }
    },
    stop() {
      child.kill('SIGTERM')
      return ended
    },
    async [Symbol.asyncDispose]() {
      // Its workers end with it: their channel is gone.
      child.kill('SIGKILL')
      await ended
    },
  }
}

const UP = /up (\d) (\d+)/g

describe('e2e: the first process of a cluster', () => {
  it('starts workers again that have all died at once, also when it waits before it does', async () => {
    await using program = run('idle')
    let lives = 0
    for (let round = 1; round <= 3; round += 1) {
      const up = await program.matches(UP, lives + 2)
      for (const [, , pid] of up.slice(lives)) process.kill(Number(pid), 'SIGKILL')
      lives += 2
    }
    await program.matches(UP, lives + 2)
    expect(await program.stop(), program.output()).to.deep.equal([0, null])
  }).timeout(30_000)

  it('gives an answer to nobody when who asked has died, and least of all to who came in its place', async () => {
    await using program = run('late-answers')
    const answers = await program.matches(/answer (.*)/g, 3)
    expect(answers.map(([, answer]) => answer)).to.deep.equal(Array(3).fill('of the second life'))
    expect(await program.stop(), program.output()).to.deep.equal([0, null])
  }).timeout(30_000)

  it('stops at once while a worker is still being started', async () => {
    await using program = run('slow-start')
    await program.matches(UP, 1)
    expect(await program.stop(), program.output()).to.deep.equal([0, null])
  }).timeout(15_000)
})
