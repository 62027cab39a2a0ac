import type { Json, JsonObject } from '../../../../lib/common/index.ts'
import { Cancellation, silentLogger } from '../../../../lib/common/index.ts'
import { loadDefinition, type LoadedDefinition, type LoadOptions } from '../../../../lib/definition/index.ts'
import { deploy } from '../../../../lib/deployment/index.ts'
import type { CloudEventRecord } from '../../../../lib/events/index.ts'
import type { MaybePromise } from '../../../../lib/expressions/index.ts'
import type { FunctionCall, FunctionResult } from '../../../../lib/functions/index.ts'
import type { DeployedWorkflow } from '../../../../lib/hosts/index.ts'
import { Instance, type CallCommand, type Command, type HistoryStep, type InstanceFacts, type InstanceEnvironment, type Outcome, type PersistedInstance } from '../../../../lib/instance/index.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/clock.ts'

/** A function that a test supplies. */
export type TestFunction = (call: FunctionCall) => MaybePromise<FunctionResult>

/** What definitions of a test are made ready with. */
export interface DeployForTestOptions {
  readonly loop?: 'stock' | 'fast'
  /** By name; functions without one answer with nothing. */
  readonly functions?: Readonly<Record<string, TestFunction>>
  readonly maxSteps?: number
  readonly clock?: VirtualClock
  readonly load?: Partial<LoadOptions>
}

/** How an instance of a test is driven. */
export interface DriverOptions extends DeployForTestOptions {
  /** Output of sub-flows by id; a function may throw. */
  readonly subflows?: Readonly<Record<string, (input: Json) => MaybePromise<Json>>>
  /** How many workflows stand above the instance. */
  readonly depth?: number
  /** Calls are made amid a turn where they can be. */
  readonly callsAtOnce?: boolean
  /** Keeps a persisted snapshot after each turn. */
  readonly record?: boolean
}

/** Loads a definition document. */
export function loadForTest(document: JsonObject, load: Partial<LoadOptions> = {}): Promise<LoadedDefinition> {
  return loadDefinition({ uri: 'test.sw.json', document: { specVersion: '0.8', ...document } }, { profile: 'spec', root: '.', ...load })
}

/** Makes a loaded definition ready to run with the functions of a test. */
export function deployForTest(loaded: LoadedDefinition, options: DeployForTestOptions = {}): Promise<DeployedWorkflow> {
  const functions = options.functions ?? {}
  return deploy(loaded, {
    functions: {
      compile: ({ name }) => Promise.resolve({ invoke: functions[name] ?? (() => ({})) }),
      unusedSettings: () => [],
      close: () => Promise.resolve(),
    },
    secrets: { read: (key) => `secret ${key}` },
    clock: options.clock ?? createVirtualClock(),
    ids: { next: () => 'id', random: () => 0.25 },
    log: silentLogger,
    maxSteps: options.maxSteps ?? 10_000,
    loop: options.loop ?? 'fast',
    expressions: {},
    root: '.',
  })
}

/** Drives one instance by itself: carries its commands out in the order in which they come, with time that the test moves. */
export class Driver {
  readonly clock: VirtualClock
  readonly steps: Omit<HistoryStep, 'sequence' | 'at'>[] = []
  readonly events: CloudEventRecord[] = []
  readonly snapshots: PersistedInstance[] = []
  readonly withdrawn: string[] = []
  readonly controllers = new Map<string, Cancellation>()
  instance: Instance
  readonly #workflow: DeployedWorkflow
  readonly #options: DriverOptions
  readonly #timers = new Map<string, () => void>()
  readonly #answers: { readonly token: string; readonly outcome: Promise<Outcome>; readonly detached: boolean }[] = []

  constructor(workflow: DeployedWorkflow, input: Json, options: DriverOptions) {
    this.#workflow = workflow
    this.#options = options
    this.clock = options.clock ?? createVirtualClock()
    this.instance = this.#make(input)
  }

  /** Deploys a definition and makes an instance of it that has not begun. */
  static async open(document: JsonObject, input: Json = {}, options: DriverOptions = {}): Promise<Driver> {
    const clock = options.clock ?? createVirtualClock()
    const complete = { ...options, clock }
    return new Driver(await deployForTest(await loadForTest(document, options.load), complete), input, complete)
  }

  /** The same, begun and settled. */
  static async run(document: JsonObject, input: Json = {}, options: DriverOptions = {}): Promise<Driver> {
    const driver = await Driver.open(document, input, options)
    await driver.begin()
    return driver
  }

  #make(input: Json): Instance {
    const { program } = this.#workflow
    let sequence = 0
    const environment: InstanceEnvironment = {
      clock: this.clock,
      ids: { next: () => `id-${String(sequence += 1)}`, random: () => 0.25 },
      log: silentLogger,
      secrets: { read: (key) => `secret ${key}` },
      kogitoAttributes: false,
      maxSteps: this.#options.maxSteps ?? 10_000,
      ...(this.#options.callsAtOnce === true ? { callsAtOnce: 'all' } : {}),
      withdraw: (_instance, token) => {
        this.withdrawn.push(token)
        this.#timers.get(token)?.()
        this.#timers.delete(token)
        this.controllers.get(token)?.abort()
      },
      report: (_instance, step) => { this.steps.push(step) },
    }
    const facts = { id: 'instance', workflowId: program.definition.id, version: program.definition.version, input, headers: {}, startedAt: this.clock.now(), ...this.#parent() }
    return new Instance(facts, this.#workflow, environment)
  }

  #parent(): Pick<InstanceFacts, 'parent'> {
    const { depth } = this.#options
    if (depth === undefined) return {}
    return { parent: { instanceId: 'parent', workflowId: 'parent', rootInstanceId: 'root', rootWorkflowId: 'root', onParentComplete: 'terminate', depth } }
  }

  /** Begins and lets everything run that can without moving time. */
  async begin(startFrom?: number): Promise<void> {
    this.turn(() => { this.instance.begin(startFrom === undefined ? {} : { startFrom }) })
    await this.settle()
  }

  /** Moves the instance on and carries out what it asks for. */
  turn(move: () => void): void {
    move()
    for (let commands = this.instance.takeCommands(); commands.length > 0; commands = this.instance.takeCommands()) {
      for (const command of commands) this.#execute(command)
    }
    if (this.#options.record === true) this.snapshots.push(this.persist())
  }

  #execute(command: Command): void {
    switch (command.kind) {
      case 'publish': this.events.push(command.event); return
      case 'timer':
        this.#timers.set(command.token, this.clock.at(command.dueAt, () => { this.turn(() => { this.instance.fire(command.token) }) }))
        return
      case 'call': this.#call(command); return
      case 'subflow': {
        const subflow = this.#options.subflows?.[command.workflowId] ?? ((input: Json) => input)
        const run = async (): Promise<Outcome> => {
          try {
            return await command.finish(await subflow(command.input))
          } catch (error) {
            return { error: { name: 'Error', code: 'FUNCTION_FAILED', message: String(error) } }
          }
        }
        this.#answers.push({ token: command.token, outcome: run(), detached: command.detached })
      }
    }
  }

  #call(command: CallCommand): void {
    const cancellation = command.begun?.cancellation ?? new Cancellation()
    this.controllers.set(command.token, cancellation)
    const outcome = command.begun?.outcome ?? command.run(cancellation)
    if (outcome instanceof Promise) this.#answers.push({ token: command.token, outcome, detached: command.detached })
    else if (!command.detached) this.instance.settle(command.token, outcome)
  }

  /** Takes answers in the order of the calls until none is under way. */
  async settle(): Promise<void> {
    for (let next = this.#answers.shift(); next !== undefined; next = this.#answers.shift()) {
      const { token, detached } = next
      const outcome = await next.outcome
      if (!detached) this.turn(() => { this.instance.settle(token, outcome) })
    }
  }

  /** Lets microtasks run, for calls that a test answers by hand and that must not be waited for. */
  async answered(turns = 20): Promise<void> {
    const waiting = this.#answers.splice(0)
    for (const { token, detached, outcome } of waiting) {
      void outcome.then((result) => { if (!detached) this.turn(() => { this.instance.settle(token, result) }) })
    }
    for (let index = 0; index < turns; index += 1) await Promise.resolve()
    if (this.#answers.length > 0) await this.answered(turns)
  }

  /** Moves time and lets everything run that becomes due. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.clock.now() + milliseconds
    for (let next = this.clock.next(); next !== undefined && next <= end; next = this.clock.next()) {
      this.clock.moveTo(next)
      await this.settle()
    }
    this.clock.moveTo(end)
  }

  /** Moves time to the next timer. Gives false when there is none. */
  async nextTimer(): Promise<boolean> {
    const next = this.clock.next()
    if (next === undefined) return false
    this.clock.moveTo(next)
    await this.settle()
    return true
  }

  /** Delivers an event to the first wait for its type. Gives false when nobody waits for it. */
  async deliver(type: string, data: Json = {}, attributes: Readonly<Record<string, string>> = {}): Promise<boolean> {
    for (const { token, events } of this.instance.waits) {
      const found = events.find(({ definition }) => definition.type === type)
      if (found === undefined) continue
      const event = { specversion: '1.0', id: `event-${type}`, source: 'test', type, data, ...attributes } as CloudEventRecord
      this.turn(() => { this.instance.receive(token, found.entry, event, attributes) })
      await this.settle()
      return true
    }
    return false
  }

  /** The stored form after a JSON round trip. */
  persist(): PersistedInstance {
    return JSON.parse(JSON.stringify(this.instance.persist())) as PersistedInstance
  }

  /** Puts the instance away and brings it back from its stored form, or from what an older release would have stored. */
  async restart(older: (stored: PersistedInstance) => PersistedInstance = (stored) => stored): Promise<void> {
    const persisted = older(this.persist())
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    this.#answers.length = 0
    this.instance = this.#make(this.instance.facts.input)
    this.turn(() => { this.instance.resume(persisted) })
    await this.settle()
  }

  /** Names of the states that were entered. */
  get trace(): string[] {
    return this.steps.flatMap(({ type, state }) => (type === 'stateEntered' && state !== undefined ? [state] : []))
  }
}

/** A promise that a test settles by hand. */
export function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void; reject: (error: unknown) => void } {
  let resolve: (value: Value) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<Value>((give, refuse) => { resolve = give; reject = refuse })
  return { promise, resolve, reject }
}
