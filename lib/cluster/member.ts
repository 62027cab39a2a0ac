import { TurnoverMap, type Json } from '../common/index.ts'
import { HostError } from '../errors/index.ts'
import type { ClusterLink } from '../hosts/cluster/index.ts'
import { isClusterMessage, type ClusterMessage } from './messages.ts'
import { fromWireError, toWireError } from './wire-error.ts'

/** A worker of a cluster. */
export interface ClusterMember {
  readonly link: ClusterLink
  /** Resolves when the first process asks this one to stop. */
  readonly stopped: Promise<string>
  /** Tells that requests are served, with the lines that a user is to see once. */
  ready(lines: readonly string[]): void
}

/** The channel to the first process. */
export interface Channel {
  send(message: ClusterMessage): void
  onMessage(listener: (message: unknown) => void): void
}

interface Pending {
  readonly resolve: (value: Json | undefined) => void
  readonly reject: (error: Error) => void
}

/** Joins a cluster as the worker of a slot. */
export function joinCluster({ slot, count }: { readonly slot: number; readonly count: number }, channel: Channel): ClusterMember {
  const pending = new TurnoverMap<number, Pending>()
  let answer: Parameters<ClusterLink['serve']>[0] = () => Promise.reject(new HostError({ code: 'HOST_BUSY', message: 'The worker is starting; try again' }))
  let lastId = 0
  let stop: (reason: string) => void
  const stopped = new Promise<string>((resolve) => { stop = resolve })

  const serveCall = async ({ from, id, method, args }: Extract<ClusterMessage, { cluster: 'call' }>): Promise<void> => {
    const head = { cluster: 'answer', from: slot, to: from, id } as const
    try {
      channel.send({ ...head, value: await answer(method, args) })
    } catch (error) {
      channel.send({ ...head, error: toWireError(error) })
    }
  }
  channel.onMessage((message) => {
    if (!isClusterMessage(message)) return
    if (message.cluster === 'stop') stop('stop')
    else if (message.cluster === 'call') void serveCall(message)
    else if (message.cluster === 'answer') {
      const waiting = pending.get(message.id)
      pending.delete(message.id)
      if (message.error === undefined) waiting?.resolve(message.value)
      else waiting?.reject(fromWireError(message.error))
    }
  })
  return {
    stopped,
    ready(lines) { channel.send({ cluster: 'ready', lines }) },
    link: {
      slot,
      count,
      serve(given) { answer = given },
      call(to, method, args) {
        const id = ++lastId
        return new Promise((resolve, reject) => {
          pending.set(id, { resolve, reject })
          channel.send({ cluster: 'call', from: slot, to, id, method, args })
        })
      },
    },
  }
}

/** Gives the channel that this process was forked with. @throws {@link HostError} `HOST_BUSY` when nobody forked it */
export function parentChannel(): Channel {
  const send = process.send?.bind(process)
  if (send === undefined) throw new HostError({ code: 'HOST_BUSY', message: 'A worker is started by "sonatina serve --workers", not by itself' })
  return {
    send(message) { send(message) },
    onMessage(listener) { process.on('message', listener) },
  }
}
