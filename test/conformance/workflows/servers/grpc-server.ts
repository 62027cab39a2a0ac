import { dirname } from 'node:path'
import { Server, ServerCredentials, status, type ServiceDefinition, type UntypedHandleCall, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { load } from '@grpc/proto-loader'
import { GREETER } from './grpc-greeter.ts'
import { CaseFault } from '../case-fault.ts'

/** A gRPC server of the runner. */
export interface GrpcServer {
  readonly port: number
  close(): Promise<void>
}

/** Services that cases describe in words, by name; methods that a proto file does not declare are left out. */
const SERVICES: Readonly<Record<string, Readonly<Record<string, UntypedHandleCall>>>> = { Greeter: GREETER }

/** Serves every service of a proto file on a free port of loopback; imports are looked for in further folders too. */
export async function startGrpcServer(protoFile: string, includeDirs: readonly string[] = []): Promise<GrpcServer> {
  const definitions = await load(protoFile, {
    keepCase: true, enums: String, defaults: false, oneofs: true, includeDirs: [dirname(protoFile), ...includeDirs],
  })
  const server = new Server()
  for (const [name, definition] of Object.entries(definitions)) {
    if (!('format' in definition)) server.addService(definition, implementation(name, definition))
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound)
      else reject(error)
    })
  })
  return {
    port,
    close: () => {
      server.forceShutdown()
      return Promise.resolve()
    },
  }
}

function implementation(name: string, definition: ServiceDefinition): UntypedServiceImplementation {
  const methods = SERVICES[name.split('.').at(-1) ?? name]
  if (methods === undefined) throw new CaseFault(`this runner does not know how the gRPC service ${name} behaves`)
  return Object.fromEntries(Object.keys(definition).map((method) => {
    const handle = methods[method]
    if (handle === undefined) throw new CaseFault(`this runner does not know how ${method} of the gRPC service ${name} behaves; code ${status.UNIMPLEMENTED}`)
    return [method, handle]
  }))
}
