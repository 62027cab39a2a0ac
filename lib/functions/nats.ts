import type { NatsConnection } from 'nats'
import { ConfigurationError } from '../errors/index.ts'

/** Connections to NATS servers. */
export interface NatsConnections {
  /** Gives the connection to a server address, `nats://host:port`; made at its first use, and again when it was lost. */
  to(address: string): Promise<NatsConnection>
  close(): Promise<void>
}

/** Creates the connections of a process; the optional package `nats` is imported when the first is asked for. */
export function createNatsConnections(): NatsConnections {
  const connections = new Map<string, Promise<NatsConnection>>()
  return {
    to(address) {
      let connection = connections.get(address)
      if (connection === undefined) {
        connection = connect(address)
        connections.set(address, connection)
        const forget = (): void => { connections.delete(address) }
        connection.then((open) => open.closed().then(forget), forget)
      }
      return connection
    },
    async close() {
      const open = await Promise.allSettled(connections.values())
      connections.clear()
      for (const result of open) if (result.status === 'fulfilled' && !result.value.isClosed()) await result.value.drain()
    },
  }
}

async function connect(address: string): Promise<NatsConnection> {
  const nats = await import('nats').catch((cause: unknown) => {
    throw new ConfigurationError({
      code: 'CONFIGURATION_MISSING',
      message: 'A function speaks NATS, but the optional package "nats" is not installed; run npm install nats',
      cause,
    })
  })
  return nats.connect({ servers: address, name: 'sonatina', maxReconnectAttempts: 10 })
}
