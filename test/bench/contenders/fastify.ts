import { randomUUID } from 'node:crypto'
import { loadPeer } from '../peers.ts'
import { SERVICES, type Input } from './services.ts'

// The hand-written services in fastify, a framework made for speed. No type of it is needed beyond these.

interface Reply {
  code(status: number): Reply
  header(name: string, value: string): Reply
}
interface Fastify {
  post(path: string, handle: (request: { readonly body: Input; readonly host: string }, reply: Reply) => Promise<object>): void
  listen(address: { readonly host: string; readonly port: number }): Promise<string>
}

const { default: fastify } = await loadPeer('fastify') as { default: () => Fastify }
const app = fastify()
for (const [path, service] of Object.entries(SERVICES)) {
  app.post(path, async (request, reply) => {
    const id = randomUUID()
    const workflowdata = await service(request.body)
    reply.code(201).header('Location', `http://${request.host}${path}/${id}`)
    return { id, workflowdata }
  })
}
process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) })
