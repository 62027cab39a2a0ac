import { dirname, join } from 'node:path'
import { readdir, readFile } from 'node:fs/promises'
import { assertKnown, type CaseFile, type Fields } from '../case-file.ts'
import type { ServerAddresses } from '../settings.ts'
import { startBroker, toEventPattern, type Broker } from './broker.ts'
import { startGrpcServer, type GrpcServer } from './grpc-server.ts'
import { startStubServer, type StubContext, type StubServer } from './stub-server.ts'
import { CaseFault } from '../case-fault.ts'

/** Name of the stub server that mocks without `server` belong to. */
const MAIN = ''

/** The servers around the product: stub servers by name, gRPC servers, the test broker. */
export class Servers {
  private readonly context: StubContext
  private readonly stubs = new Map<string, StubServer>()
  private readonly grpc = new Map<string, GrpcServer>()
  private readonly services = new Map<string, number>()
  broker!: Broker

  constructor(context: StubContext) {
    this.context = context
  }

  /** Starts what the mocks of a case ask for and makes the addresses known as variables. */
  async start(file: CaseFile, folder: string, outgoing: ReadonlySet<string>): Promise<void> {
    const mocks = file.mocks ?? []
    const { context } = this
    const { variables } = context
    const reactions = mocks.filter((mock) => 'onEvent' in mock).map((mock) => {
      assertKnown(mock, ['onEvent', 'emit'], 'an onEvent mock')
      return { pattern: toEventPattern(mock['onEvent'] as Fields), react: (event: Fields) => { context.emit(mock['emit'] as Fields, { event }) } }
    })
    this.broker = await startBroker({ outgoing, reactions })
    const http = mocks.filter((mock) => !('onEvent' in mock) && !('grpc' in mock))
    const names = new Set([MAIN, ...http.map(serverOf)])
    for (const name of names) {
      const server = await startStubServer(http.filter((mock) => serverOf(mock) === name), this.context)
      this.stubs.set(name, server)
      variables.set(name === MAIN ? 'mock' : `mock.${name}`, server.url)
      if (name === MAIN) variables.set('mock.port', server.port)
    }
    await this.startGrpc(file, folder, mocks.filter((mock) => 'grpc' in mock))
  }

  private async startGrpc(file: CaseFile, folder: string, mocks: readonly Fields[]): Promise<void> {
    for (const mock of mocks) {
      assertKnown(mock, ['grpc', 'server', 'behaviour'], 'a gRPC mock')
      const name = typeof mock['server'] === 'string' ? mock['server'] : 'grpc'
      const path = await protoPath(String(mock['grpc']), file, folder)
      const server = await startGrpcServer(path, await projects(folder))
      this.grpc.set(name, server)
      this.context.variables.set(`mock.${name}`, server.port)
    }
    if (mocks.length > 0 || !file.needs.includes('grpc')) return
    // Some cases only name the service in the definition: the origin's own test brings the server.
    for (const { proto, service } of await rpcOperations(file, folder)) {
      const server = this.grpc.get(proto) ?? await startGrpcServer(await protoPath(proto, file, folder), await projects(folder))
      this.grpc.set(proto, server)
      this.services.set(service, server.port)
    }
  }

  /** Settings that point the clients of gRPC services at servers that the case does not configure itself. */
  grpcSettings(): Record<string, string | number> {
    return Object.fromEntries([...this.services].flatMap(([service, port]): [string, string | number][] => [
      [`quarkus.grpc.clients.${service}.host`, 'localhost'], [`quarkus.grpc.clients.${service}.port`, port],
    ]))
  }

  /** Addresses of the stub servers. */
  get addresses(): ServerAddresses {
    const main = this.stubs.get(MAIN)?.url
    const named = new Map([...this.stubs].filter(([name]) => name !== MAIN).map(([name, { url }]) => [name, url]))
    return { named, ...(main === undefined ? {} : { main }) }
  }

  /** Tells whether the case has a stub server of that name. */
  has(name: string): boolean {
    return this.stubs.has(name)
  }

  /** A stub server by its name; the default one without. */
  stub(name: string = MAIN): StubServer {
    const server = this.stubs.get(name)
    if (server === undefined) throw new CaseFault(`the case has no stub server "${name}"`)
    return server
  }

  /** All stub servers. */
  all(): readonly StubServer[] {
    return [...this.stubs.values()]
  }

  /** Lets further mocks answer from now on. */
  respond(mocks: readonly Fields[]): void {
    for (const mock of mocks) this.stub(serverOf(mock)).respond([mock])
  }

  /** Closes all of them. */
  async close(): Promise<void> {
    const broker = this.broker as Broker | undefined
    await Promise.all([...this.stubs.values(), ...this.grpc.values(), ...broker === undefined ? [] : [broker]].map((server) => server.close()))
  }
}

function serverOf(mock: Fields): string {
  return typeof mock['server'] === 'string' ? mock['server'] : MAIN
}

/** A proto file is named as in the definition: it lies beside it. */
async function protoPath(name: string, file: CaseFile, folder: string): Promise<string> {
  const places = [folder, ...file.definitions.filter((definition) => typeof definition === 'string').map((path) => join(folder, dirname(path)))]
  for (const place of places) {
    const path = join(place, name)
    if (await readFile(path).then(() => true, () => false)) return path
  }
  throw new CaseFault(`no proto file ${name} beside the definitions`)
}

/** Folders of the projects of a group: what one imports may lie in another. */
async function projects(folder: string): Promise<readonly string[]> {
  const names = await readdir(join(folder, 'files')).catch(() => [])
  return names.sort().map((name) => join(folder, 'files', name))
}

async function rpcOperations(file: CaseFile, folder: string): Promise<readonly { readonly proto: string; readonly service: string }[]> {
  const found = new Map<string, { proto: string; service: string }>()
  for (const definition of file.definitions) {
    const text = typeof definition === 'string' ? await readFile(join(folder, definition), 'utf8') : JSON.stringify(definition)
    for (const [key, proto = '', service = ''] of text.matchAll(/([\w./-]+\.proto)#(\w+)/g)) found.set(key, { proto, service })
  }
  return [...found.values()]
}
