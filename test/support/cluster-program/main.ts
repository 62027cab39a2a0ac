import cluster from 'node:cluster'
import { joinCluster, parentChannel, runPrimary } from '../../../lib/cluster/index.ts'
import { createSystemClock } from '../../../lib/common/index.ts'

// A program of a cluster of two without a service, for tests of its first process: SCENARIO, and SLOT for the workers that it starts.

const [scenario, slot] = process.argv.slice(2)
const tell = (line: string): void => { process.stdout.write(`${line}\n`) }

if (cluster.isPrimary) {
  process.exitCode = await runPrimary({
    count: 2,
    patience: 60_000,
    clock: createSystemClock(),
    argumentsOf: (number) => [scenario ?? '', String(number)],
    tell,
    warn: tell,
    stopped: new Promise((resolve) => { process.once('SIGTERM', resolve) }),
  })
} else {
  await work(Number(slot))
  process.disconnect()
}

async function work(number: number): Promise<void> {
  const member = joinCluster({ slot: number, count: 2 }, parentChannel())
  if (scenario === 'slow-start' && number === 1) await new Promise(() => { setInterval(() => undefined, 60_000) })
  if (scenario === 'late-answers' && number === 1) answerLate(member.link)
  member.ready([])
  tell(`up ${String(number)} ${String(process.pid)}`)
  if (scenario === 'late-answers' && number === 0) await askTwice(member.link)
  await member.stopped
}

/** Holds the answers of `hold` back until `ask` is asked, and gives them just before its own. */
function answerLate(link: ReturnType<typeof joinCluster>['link']): void {
  const held: (() => void)[] = []
  link.serve((method) => {
    if (method === 'hold') return new Promise((resolve) => { held.push(() => { resolve('of the first life') }) })
    if (method === 'count') return Promise.resolve(held.length)
    for (const release of held) release()
    return new Promise((resolve) => { setImmediate(() => { resolve('of the second life') }) })
  })
}

/** Asks and dies in the first life; asks in the second. */
async function askTwice(link: ReturnType<typeof joinCluster>['link']): Promise<void> {
  const isFirst = (cluster.worker?.id ?? 0) <= 2
  const answers = ['a', 'b', 'c'].map((each) => link.call(1, isFirst ? 'hold' : 'ask', [each]))
  if (!isFirst) {
    for (const answer of await Promise.all(answers)) tell(`answer ${String(answer)}`)
    return
  }
  await link.call(1, 'count', [])
  process.kill(process.pid, 'SIGKILL')
}
