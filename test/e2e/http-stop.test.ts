import { spawn, type ChildProcess } from 'node:child_process'
import { Agent, request as httpRequest } from 'node:http'
import { expect } from 'chai'
import { send } from '../unit/server/setup.ts'

interface Running {
  readonly child: ChildProcess
  readonly port: number
  readonly exit: Promise<number | null>
}

/** Starts the program and waits until it has told its address. */
function start(): Promise<Running> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'lib/cli/main.ts', 'serve', 'workflows/parallel.sw.json', '--port', '0', '--set', 'sonatina.store=memory', '--set', 'sonatina.shutdown.delay=300ms'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exit = new Promise<number | null>((resolve) => { child.once('exit', resolve) })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stderr.on('data', (chunk: Buffer) => { text += chunk.toString('utf8') })
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8')
      const port = /serves 1 workflow at http:\/\/127\.0\.0\.1:(\d+)\n[\s\S]*\/q\/openapi/.exec(text)?.[1]
      if (port !== undefined) resolve({ child, port: Number(port), exit })
    })
    void exit.then((code) => { reject(new Error(`the program ended with ${String(code)}: ${text}`)) })
  })
}

describe('e2e: stopping the program', () => {
  it('turns readiness down first, answers every accepted request, and exits with 0', async () => {
    const { child, port, exit } = await start()
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    const outcome = { answered: 0, afterSignal: 0, lost: [] as string[] }
    let isStopping = false
    const post = (): Promise<string> => new Promise((resolve) => {
      const request = httpRequest({ host: '127.0.0.1', port, method: 'POST', path: '/parallel', agent, headers: { 'content-type': 'application/json' } }, (response) => {
        response.resume()
        response.on('end', () => { resolve(String(response.statusCode)) })
        response.on('error', () => { resolve('cut') })
      })
      request.on('error', (error: NodeJS.ErrnoException) => { resolve(error.code ?? 'unknown') })
      request.end('{}')
    })
    const worker = async (): Promise<void> => {
      for (;;) {
        const result = await post()
        if (result === '201') {
          outcome.answered++
          if (isStopping) outcome.afterSignal++
        } else if (result === 'ECONNREFUSED' && isStopping) {
          return
        } else {
          outcome.lost.push(result)
          return
        }
      }
    }
    const workers = Array.from({ length: 8 }, worker)
    try {
      while (outcome.answered < 100 && outcome.lost.length === 0) await send(port, 'GET', '/q/health/live')
      expect((await send(port, 'GET', '/q/health/ready')).status).to.equal(200)
      isStopping = true
      child.kill('SIGTERM')
      // Still served, and no longer ready.
      let ready = 200
      while (ready === 200) ready = await send(port, 'GET', '/q/health/ready').then(({ status }) => status, () => 0)
      expect(ready).to.equal(503)
      await Promise.all(workers)
      expect(outcome.lost).to.deep.equal([])
      expect(outcome.afterSignal).to.be.greaterThan(0)
      expect(await exit).to.equal(0)
    } finally {
      agent.destroy()
      child.kill('SIGKILL')
    }
  }).timeout(180_000)

  it('tells what is wrong when it cannot start, and exits with 1', async () => {
    const { child, port } = await start()
    try {
      const second = spawn(process.execPath, ['--import', 'tsx', 'lib/cli/main.ts', 'serve', 'workflows/parallel.sw.json', '--port', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] })
      let text = ''
      second.stderr.on('data', (chunk: Buffer) => { text += chunk.toString('utf8') })
      const code = await new Promise((resolve) => { second.once('exit', resolve) })
      expect([code, text]).to.deep.equal([1, `CONFIGURATION_INVALID: 127.0.0.1:${String(port)} cannot be listened on: another process listens there. Set sonatina.http.port or --port to another one; 0 takes a free one.\n`])
    } finally {
      child.kill('SIGKILL')
    }
  }).timeout(180_000)
})
