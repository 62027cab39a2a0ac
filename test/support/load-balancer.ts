import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'

/** A server that connections can be given to. */
export interface Backend {
  readonly port: number
  /** Whether it answers, as a probe sees it. */
  isAlive(): Promise<boolean>
}

/** One address in front of several servers, as a Kubernetes service is. */
export interface LoadBalancer {
  readonly url: string
  close(): Promise<void>
}

const PROBE_EVERY = 1000

/** Gives connections in turn to the servers that live, and cuts those to a server that a probe finds dead. */
export async function startLoadBalancer(backends: readonly Backend[]): Promise<LoadBalancer> {
  const dead = new Set<Backend>()
  const open = new Map<Socket, Backend>()
  let turn = 0
  const server = createServer((socket) => {
    const alive = backends.filter((backend) => !dead.has(backend))
    turn += 1
    const backend = alive[turn % Math.max(1, alive.length)]
    if (backend === undefined) { socket.destroy(); return }
    const upstream = connect(backend.port, '127.0.0.1')
    open.set(socket, backend)
    const end = (): void => {
      open.delete(socket)
      socket.destroy()
      upstream.destroy()
    }
    for (const each of [socket, upstream]) each.on('error', end).on('close', end)
    socket.pipe(upstream).pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const probing = setInterval(() => {
    for (const backend of backends) {
      void backend.isAlive().then((isAlive) => {
        if (isAlive) { dead.delete(backend); return }
        dead.add(backend)
        for (const [socket, to] of open) if (to === backend) socket.destroy()
      })
    }
  }, PROBE_EVERY)
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    async close() {
      clearInterval(probing)
      for (const socket of open.keys()) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Asks a health address; slow is dead. */
export async function answers(url: string, milliseconds = 1000): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(milliseconds) })).ok
  } catch {
    // A refused connection and a late answer are the same here.
    return false
  }
}
