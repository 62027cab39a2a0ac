import { Cancellation } from '../common/index.ts'
import type { CallCommand, Command, Outcome } from '../instance/index.ts'
import { isQuiet, recordOf, type LiveInstance } from './live-instance.ts'
import type { Parts, Turns } from './parts.ts'

function begin(command: CallCommand): { readonly cancellation: Cancellation; readonly outcome: Outcome | Promise<Outcome> } {
  const cancellation = new Cancellation()
  return { cancellation, outcome: command.run(cancellation) }
}

/** Creates what moves instances on, and carries out what they ask for. */
export function createTurns(parts: Parts): Turns {
  const { options, lives, queue, waits } = parts
  const find = (id: string): LiveInstance | undefined => lives.get(id)

  function turn(live: LiveInstance, move: () => void): void {
    move()
    if (live.durable !== undefined) {
      live.durable.keeper.moved(live)
      return
    }
    if (live.pumping) return
    live.pumping = true
    try {
      for (let commands = live.instance.takeCommands(); commands.length > 0; commands = live.instance.takeCommands()) {
        for (const command of commands) execute(live, command)
      }
    } finally {
      live.pumping = false
    }
    rest(live)
  }

  function rest(live: LiveInstance): void {
    const status = live.instance.status
    if (status === 'completed' || status === 'aborted') parts.ends.end(live)
    else if (status === 'error') parts.ends.fail(live)
    else {
      waits.update(live)
      if (options.onRest !== undefined && live.instance.isQuiet) options.onRest(recordOf(live), live.facts)
      answer(live)
    }
  }

  function answer(live: LiveInstance): void {
    if (!isQuiet(live, find) || live.durable?.keeper.isPending(live) === true) return
    release(live)
    // A parent that waits for this sub-flow may be quiet now too.
    const parent = live.facts.parent?.token === undefined ? undefined : lives.get(live.facts.parent.instanceId)
    if (parent !== undefined) answer(parent)
  }

  function release(live: LiveInstance): void {
    const { waiters } = live
    if (waiters.length === 0) return
    live.waiters = []
    for (const waiter of waiters) waiter(live)
  }

  function execute(live: LiveInstance, command: Command): void {
    switch (command.kind) {
      case 'call': call(live, command); return
      case 'timer':
        live.timers.set(command.token, options.clock.at(command.dueAt, () => {
          live.timers.delete(command.token)
          queue.add(() => { turn(live, () => { live.instance.fire(command.token) }) })
        }))
        return
      case 'publish': parts.router.emit(command.event); return
      case 'subflow':
        if (!command.detached) live.starting.add(command.token)
        queue.add(() => { parts.subflows.start(live, command) })
    }
  }

  function call(live: LiveInstance, command: CallCommand): void {
    const { cancellation, outcome } = command.begun ?? begin(command)
    live.calls.set(command.token, cancellation)
    const done = (result: Awaited<typeof outcome>): void => {
      const isCurrent = live.calls.get(command.token) === cancellation
      if (isCurrent) live.calls.delete(command.token)
      // A call that was given up, or made again under its token, answers to nobody.
      if (!command.detached) {
        if (isCurrent) live.instance.settle(command.token, result)
      } else if ('error' in result) options.log.warn({ instance: live.facts.id, error: result.error }, 'asynchronous function failed')
    }
    if (!(outcome instanceof Promise)) done(outcome)
    else void outcome.then((result) => { queue.add(() => { turn(live, () => { done(result) }) }) })
  }

  return { turn, execute, call, rest, release }
}
