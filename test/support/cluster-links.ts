import type { Json } from '../../lib/common/index.ts'
import { fromWireError, toWireError } from '../../lib/cluster/wire-error.ts'
import type { Host } from '../../lib/hosts/index.ts'
import type { ClusterLink } from '../../lib/hosts/cluster/index.ts'

/** Joins several hosts of this process as if they were processes: what they say to each other goes through JSON. */
export function linkAll(count: number): readonly ClusterLink[] {
  const answers = new Map<number, Parameters<ClusterLink['serve']>[0]>()
  const through = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json
  return Array.from({ length: count }, (_, slot): ClusterLink => ({
    slot,
    count,
    serve(answer) { answers.set(slot, answer) },
    async call(to, method, args) {
      const answer = answers.get(to)
      if (answer === undefined) throw new Error(`there is no member ${String(to)}`)
      try {
        const value = await answer(method, through(args) as readonly Json[])
        return value === undefined ? undefined : through(value)
      } catch (error) {
        throw fromWireError(through(toWireError(error)) as unknown as ReturnType<typeof toWireError>)
      }
    },
  }))
}

/** Makes one host of several that stand for the same: each call goes to the next of them, and closing to all. */
export function inTurn<Member extends Pick<Host, 'close'>>(members: readonly Member[]): Member {
  let next = 0
  return new Proxy(members[0]!, {
    get(_target, name) {
      if (name === 'close') return async (grace?: number): Promise<void> => { for (const each of members) await each.close(grace) }
      const member = members[next++ % members.length]!
      const value: unknown = Reflect.get(member, name)
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(member) : value
    },
  })
}
