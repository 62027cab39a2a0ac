import { spawn, type ChildProcess } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { expect } from 'chai'

const PROGRAM = 'dist/lib/cli/main.js'

/** Runs `npm start` and waits for its address. */
async function start(): Promise<{ readonly child: ChildProcess; readonly url: string; readonly exit: Promise<number | null> }> {
  // A group of its own: a terminal signals npm and what it runs alike.
  const child = spawn('npm', ['start'], { detached: true, env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = new Promise<number | null>((resolve) => { child.once('exit', resolve) })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    const take = (chunk: Buffer): void => {
      text += chunk.toString('utf8')
      const found = /serves 2 workflows at (\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    void exit.then((code) => { reject(new Error(`npm start ended with ${String(code)}: ${text}`)) })
  })
  return { child, url, exit }
}

async function post(url: string, body: object): Promise<{ status: number; data: Record<string, unknown> }> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const { workflowdata } = await answer.json() as { workflowdata: Record<string, unknown> }
  return { status: answer.status, data: workflowdata }
}

describe('e2e: npm start', () => {
  it('serves the reference workflows with all that they need, ends on a signal, and bundles only what has changed', async () => {
    const inputs = { currencyFrom: 'EUR', currencyTo: 'USD', exchangeDate: '2022-06-10', amount: 2 }
    const made: number[] = []
    for (let round = 0; round < 2; round += 1) {
      const { child, url, exit } = await start()
      try {
        expect(await post(`${url}/currency_exchange_workflow`, inputs)).to.deep.equal({
          status: 201,
          data: { ...inputs, exchangeRate: 1.0578, result: 2.1156, executionStatus: 'OK', executionStatusMessage: 'Execution successful' },
        })
        const { status, data } = await post(`${url}/parallel`, {})
        expect(status).to.equal(201)
        expect([...String(data['result'])].sort().join('')).to.equal('ABC')
        process.kill(-(child.pid ?? NaN), 'SIGTERM')
        await exit
      } finally {
        try {
          process.kill(-(child.pid ?? NaN), 'SIGKILL')
        } catch {
          // All of them have ended.
        }
      }
      made.push((await stat(PROGRAM)).mtimeMs)
    }
    expect(made[1]).to.equal(made[0])
  }).timeout(120_000)
})
