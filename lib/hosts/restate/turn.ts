import { Cancellation, toAbortSignal } from '../../common/index.ts'
import { InstanceError } from '../../errors/index.ts'
import type { CloudEventRecord } from '../../events/index.ts'
import { Instance, toWorkflowError, type CallCommand, type Command, type HistoryStep, type Outcome as InstanceOutcome, type SubflowCommand } from '../../instance/index.ts'
import { linkTo } from '../subflows.ts'
import { WaitIndex } from '../wait-index.ts'
import type { LiveInstance, SubflowEnd } from '../live-instance.ts'
import type { Life } from './life.ts'
import type { Message, Outcome, StartMessage } from './messages.ts'
import { Draft, forget } from './draft.ts'
import { operate } from './operate.ts'
import { reviveOutcome } from './outcome.ts'
import { idFrom } from './names.ts'
import type { TurnSurroundings } from './surroundings.ts'

/** A call that can be carried out within the turn. */
export interface InlineCall {
  readonly token: string
  /** `<state>/<action>`, for those who look at the engine. */
  readonly name: string
  readonly command: CallCommand
}

/**
 * One instance while it is moved on: brought back from its stored life, moved by messages, and put away again.
 *
 * Does no I/O and reads no clock: equal lives and messages give equal lives and actions, so that the engine can take a turn again
 * after a crash.
 */
export class Turn {
  readonly live: LiveInstance
  readonly draft: Draft
  readonly steps: HistoryStep[] = []
  /** It was aborted while a call was under way. */
  interrupted = false
  readonly #surroundings: TurnSurroundings
  /** Commands as the instance gave them, by token: what carries an effect out, or finishes it. */
  readonly #posted = new Map<string, Command>()
  /** What is still to be handed out. */
  #fresh: Command[] = []
  #now: number

  constructor(life: Omit<Life, 'record'>, at: number, surroundings: TurnSurroundings) {
    this.#surroundings = surroundings
    this.#now = at
    this.draft = new Draft(life)
    const { workflow, headers } = surroundings
    const facts = { ...life.facts, headers }
    const { inspect, log, secrets, maxSteps, kogitoAttributes } = surroundings
    const observer = inspect?.(facts)
    const instance = new Instance(facts, workflow, {
      clock: { now: () => this.#now, at: () => () => undefined },
      ids: { next: () => idFrom('id', life.facts.id, String(this.draft.next())), random: () => surroundings.random() },
      log,
      secrets,
      maxSteps,
      kogitoAttributes,
      withdraw: (_instance, token) => { this.#withdraw(token) },
      report: (_instance, step) => { this.report(step) },
      ...(observer === undefined ? {} : { inspect: observer }),
    })
    this.live = {
      instance, facts, workflow, timers: new Map(), calls: new Map(), starting: new Set(), subflows: new Map(), dependents: new Set(), waiters: [], pumping: false,
    }
  }

  get now(): number {
    return this.#now
  }

  report(step: Omit<HistoryStep, 'sequence' | 'at'>): void {
    this.steps.push({ ...step, sequence: this.draft.nextStep++, at: this.#now })
  }

  // --- moves ---

  /** Lets the instance begin. @throws {@link InstanceError} `INSTANCE_START_INVALID` */
  begin({ startFrom, events = [], correlation }: StartMessage): void {
    const state = startFrom === undefined ? undefined : this.#stateToStartFrom(startFrom)
    this.live.instance.begin({ ...(state === undefined ? {} : { startFrom: state }), ...(correlation === undefined ? {} : { correlation }) })
    for (const event of events) {
      this.draft.isNew(event, this.#now)
      this.#receive(event, false)
    }
    this.#take()
  }

  #stateToStartFrom(name: string): number {
    const state = this.live.workflow.program.stateIndex.get(name)
    if (state !== undefined) return state
    throw new InstanceError({ code: 'INSTANCE_START_INVALID', message: `Workflow "${this.live.facts.workflowId}" has no state "${name}" to start from` })
  }

  /** Brings the instance back; effects that are under way stay so. */
  resume(state: NonNullable<Life['state']>): void {
    const { instance } = this.live
    const { calls, children, awaits } = this.draft
    instance.resume(state)
    const known = new Set<string>()
    for (let commands = instance.takeCommands(); commands.length > 0; commands = instance.takeCommands()) {
      for (const command of commands) {
        if (command.kind === 'publish' || command.kind === 'timer') {
          this.#fresh.push(command)
          continue
        }
        const { token } = command
        if (!known.has(token)) this.#posted.set(token, command)
        const isUnderWay = token in calls || token in children || token in awaits
        if (!isUnderWay) this.#fresh.push(command)
        // An evaluation that takes time would hold others up although it is over: the instance is told what it came to.
        else if (command.kind === 'call' && !known.has(token)) instance.settle(token, { prepared: this.#underWay(token, command) })
        known.add(token)
      }
    }
    this.#take()
  }

  #underWay(token: string, command: CallCommand): Extract<InstanceOutcome, { prepared: unknown }>['prepared'] {
    const type = this.draft.awaits[token]
    if (type !== undefined) return { kind: 'await', type }
    const child = this.draft.children[token]
    if (child === undefined) return { kind: 'command', command }
    const subflow = { token, workflowId: child.workflowId, input: null, detached: false, onParentComplete: 'terminate' as const }
    return { kind: 'command', command: { kind: 'subflow', ...subflow, finish: (output) => this.#finish(token, output) } }
  }

  /** Moves the instance on; gives whether it took what came. */
  async move(message: Exclude<Message, { kind: 'start' | 'listen' | 'purge' }>): Promise<boolean> {
    const { instance } = this.live
    switch (message.kind) {
      case 'event': return this.#takeEvent(message.event, message.correlated)
      case 'settle': return this.settle(message.token, message.attempt, message.outcome)
      case 'timer': return this.#fire(message.token, message.dueAt)
      case 'child': await this.#child(message); break
      case 'operate': operate(this.live, message.workflowId, message.operation); break
      case 'stop': instance.abort()
    }
    this.#take()
    return true
  }

  #takeEvent(event: CloudEventRecord, correlated: boolean): boolean {
    const taken = this.draft.isNew(event, this.#now) && this.#receive(event, correlated)
    this.#take()
    return taken
  }

  #receive(event: CloudEventRecord, correlated: boolean): boolean {
    const waits = new WaitIndex()
    waits.update(this.live)
    let received = false
    for (const { token, entry, correlation } of waits.find(event)) {
      if (correlated && Object.keys(correlation).length === 0) continue
      received = this.live.instance.receive(token, entry, event, correlation) || received
    }
    return received
  }

  /** Takes the outcome of a call; that of an attempt that was given up is stale. */
  settle(token: string, attempt: number, outcome: Outcome, at = this.#now): boolean {
    this.#now = Math.max(this.#now, at)
    if (this.draft.calls[token] !== attempt) return false
    forget(this.draft.calls, token)
    if ('awaits' in outcome) this.draft.awaits[token] = outcome.awaits
    const settled = this.live.instance.settle(token, reviveOutcome(token, outcome, (output) => this.#finish(token, output)))
    this.#take()
    return settled
  }

  #fire(token: string, dueAt: number): boolean {
    if (this.draft.timers[token] !== dueAt) return false
    forget(this.draft.timers, token)
    const fired = this.live.instance.fire(token)
    this.#take()
    return fired
  }

  async #child({ token, childId, end }: Extract<Message, { kind: 'child' }>): Promise<void> {
    const { children } = this.draft
    const child = children[token]
    if (child?.id !== childId) return
    if (end === undefined) {
      children[token] = { ...child, quiet: true }
      return
    }
    const { continuation } = end
    if (end.status === 'completed' && continuation !== undefined) {
      // The parent sees one invocation, however often its sub-flow continues as another (S194).
      const { workflowId, version, input, timeout } = continuation
      this.#startChild({ token, workflowId, input, detached: false, onParentComplete: 'terminate', ...(version === undefined ? {} : { version }) }, timeout)
      return
    }
    forget(children, token)
    this.live.instance.settle(token, end.status === 'completed' ? await this.#finish(token, end.data) : { error: errorOf(child.workflowId, end) })
  }

  /** Filters what a sub-flow gave, as its action says. */
  async #finish(token: string, output: Parameters<SubflowCommand['finish']>[0]): Promise<InstanceOutcome> {
    const command = this.#posted.get(token)
    if (command?.kind === 'subflow') return command.finish(output)
    // Its action was prepared by an evaluation that takes time: it is prepared once more for its filter.
    const outcome = command?.kind === 'call' ? await command.run(new Cancellation()) : undefined
    if (outcome !== undefined && 'prepared' in outcome && outcome.prepared.kind === 'command' && outcome.prepared.command.kind === 'subflow') {
      return outcome.prepared.command.finish(output)
    }
    return { output: { result: output } }
  }

  #withdraw(token: string): void {
    const { calls, timers, awaits, children } = this.draft
    if (token in calls) this.draft.givenUp.push(token)
    for (const kept of [calls, timers, awaits]) forget(kept, token)
    const child = children[token]
    if (child === undefined) return
    forget(children, token)
    this.draft.actions.push({ kind: 'stop', instanceId: child.id })
  }

  /** Aborts the instance while the turn carries a call out. */
  interrupt(): void {
    this.interrupted = true
    this.live.instance.abort()
    this.#take()
  }

  // --- what is to be done ---

  #take(): void {
    this.#fresh.push(...this.live.instance.takeCommands())
    const calls: Command[] = []
    for (const command of this.#fresh) {
      switch (command.kind) {
        case 'publish': this.draft.actions.push(command); break
        case 'timer': this.#setTimer(command.token, command.dueAt); break
        case 'subflow': this.#startSubflow(command, calls); break
        case 'call':
          if (command.detached) this.#detach(command)
          else calls.push(command)
      }
    }
    this.#fresh = calls
  }

  #setTimer(token: string, dueAt: number): void {
    if (this.draft.timers[token] === dueAt || !this.live.instance.pending.has(token)) return
    this.draft.timers[token] = dueAt
    this.draft.actions.push({ kind: 'timer', token, dueAt })
  }

  #detach({ origin }: CallCommand): void {
    const { facts, definition } = this.draft.life
    if (origin !== undefined) this.draft.actions.push({ kind: 'detached', message: { facts, definition, origin } })
  }

  #startSubflow(command: SubflowCommand, calls: Command[]): void {
    const replacement = this.#surroundings.subflows?.get(command.workflowId)
    if (replacement !== undefined) {
      const { token, detached, input, version, origin } = command
      const run: CallCommand['run'] = async (signal) => {
        try {
          return await command.finish(await replacement(input, toAbortSignal(signal), version))
        } catch (error) {
          return { error: toWorkflowError(error) }
        }
      }
      const call: CallCommand = { kind: 'call', token, detached, run, ...(origin === undefined ? {} : { origin }) }
      if (detached) this.#detach(call)
      else calls.push(call)
      return
    }
    if (command.detached || this.live.instance.pending.has(command.token)) this.#startChild(command)
    this.#posted.set(command.token, command)
  }

  #startChild(command: Omit<SubflowCommand, 'kind' | 'finish'>, timeout?: number): void {
    const { token, workflowId, version, input, detached, onParentComplete, variables } = command
    const { facts } = this.live
    const id = idFrom('subflow', facts.id, token, String(this.draft.next()))
    const before = this.draft.children[token]
    if (!detached) this.draft.children[token] = { id, workflowId, generation: before === undefined ? 0 : before.generation + 1, quiet: false }
    else if (onParentComplete === 'terminate') this.draft.dependents.push(id)
    this.draft.actions.push({
      kind: 'start',
      wanted: {
        id, workflowId, input, headers: facts.headers, parent: linkTo(this.live, { ...command, kind: 'subflow', finish: () => ({ output: {} }) }),
        ...(version === undefined ? {} : { version }),
        ...(variables === undefined ? {} : { variables }),
        ...(timeout === undefined ? {} : { timeout }),
      },
    })
  }

  /** The call to carry out within this turn: the only thing that the instance waits for. */
  inlineCall(): InlineCall | undefined {
    const [command, ...others] = this.#fresh
    if (command?.kind !== 'call' || others.length > 0 || this.live.instance.pending.size !== 1) return undefined
    if (!this.live.instance.pending.has(command.token)) return undefined
    return { token: command.token, name: this.live.instance.nodeIdOf(command.token), command }
  }

  /** Notes that a call is carried out, within the turn or beside it; gives the number of the attempt. */
  handOut(token: string): number {
    this.#fresh = this.#fresh.filter((command) => command.kind !== 'call' || command.token !== token)
    const attempt = this.draft.next()
    this.draft.calls[token] = attempt
    return attempt
  }

  /** Hands out, to be carried out beside the turn, all calls that are left. */
  handOutRest(): void {
    for (const command of [...this.#fresh]) {
      if (command.kind === 'call' && this.live.instance.pending.has(command.token)) {
        this.draft.actions.push({ kind: 'call', token: command.token, attempt: this.handOut(command.token) })
      }
    }
    this.#fresh = []
  }

  /** The command that carries a call out that was handed out. */
  commandOf(token: string): CallCommand | undefined {
    const command = this.#posted.get(token)
    if (command?.kind === 'call') return command
    return command?.kind === 'subflow' ? this.#replaced(command) : undefined
  }

  #replaced(command: SubflowCommand): CallCommand | undefined {
    const calls: Command[] = []
    this.#startSubflow(command, calls)
    const [call] = calls
    return call?.kind === 'call' ? call : undefined
  }
}

function errorOf(workflowId: string, { failure }: SubflowEnd): NonNullable<SubflowEnd['failure']> | { name: string; code: string; message: string } {
  return failure ?? { name: 'InstanceError', code: 'INSTANCE_ABORTED', message: `Sub-flow "${workflowId}" was aborted` }
}
