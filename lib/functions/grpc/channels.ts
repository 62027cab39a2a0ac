import type { Client } from '@grpc/grpc-js'
import { settingKey, type Settings } from '../../configuration/index.ts'

/** Connections to gRPC services, one for each service name. */
export interface GrpcChannels {
  /** Gives the connection of a service, made at its first use from `sonatina.grpc.clients.<service>.*`. */
  of(service: string): Promise<Client>
  close(): void
}

// What gRPC examples and SonataFlow's tests listen on.
const DEFAULT_PORT = 50_051

/** Creates the connections of a process; `@grpc/grpc-js` is imported when the first is asked for. */
export function createGrpcChannels(settings: Settings): GrpcChannels {
  const clients = new Map<string, Promise<Client>>()
  return {
    of(service) {
      let client = clients.get(service)
      if (client === undefined) {
        client = connect(service, settings)
        clients.set(service, client)
      }
      return client
    },
    close() {
      for (const client of clients.values()) client.then((open) => { open.close() }, () => undefined)
      clients.clear()
    },
  }
}

async function connect(service: string, settings: Settings): Promise<Client> {
  const { Client, credentials } = await import('@grpc/grpc-js')
  const key = (attribute: string): string => settingKey('sonatina.grpc.clients', service.slice(service.lastIndexOf('.') + 1), attribute)
  const host = settings.text(key('host'), 'localhost')
  const port = settings.number(key('port'), DEFAULT_PORT)
  const plain = settings.boolean(key('plain-text'), true)
  const limit = settings.size('sonatina.grpc.max-message-size', 10 * 1024 * 1024)
  return new Client(`${host}:${String(port)}`, plain ? credentials.createInsecure() : credentials.createSsl(), {
    'grpc.max_receive_message_length': limit,
    // No automatic retries: the definition decides about them.
    'grpc.enable_retries': 0,
  })
}
