import { join } from 'node:path'
import { silentLogger, type Json, type JsonObject } from '../../../../lib/common/index.ts'
import { SonatinaError } from '../../../../lib/errors/index.ts'
import type { CloudEventRecord } from '../../../../lib/events/index.ts'
import type { ObservedStep, Runtime, RuntimeOptions } from '../../../../lib/runtime-options.ts'
import { CaseClock, turn } from '../case-clock.ts'
import type { CaseFile, Fields, LoadedCase } from '../case-file.ts'
import { parseDuration } from '../durations.ts'
import { InstanceWatch, type WatchedInstance } from '../instance-watch.ts'
import { startProduct } from '../product.ts'
import type { Resumption } from '../resumption.ts'
import { profileOf } from '../settings.ts'
import { continuationTargets, declaredFunctions, startState } from './documents.ts'
import { createProject, type DefinitionText, type Project } from './project.ts'
import { Recorder } from './recorder.ts'
import { createFunctionStub, createSubflowStub, type StubSurroundings } from './stubs.ts'

/** Most times that time is moved for sleeps and the like in one step: a loop without end is then called active. */
const MOST_MOVES = 200
/** The same where each takes its way through an engine. */
const MOST_ENGINE_MOVES = 40
/** Turns without anything happening after which the product counts as idle although a stub has not answered. */
const CALM_TURNS = 25

/** One run of a case of kind `simulate`: the product in process, stubs and virtual time around it. */
export class Simulation {
  readonly file: CaseFile
  readonly time: CaseClock
  readonly recorder = new Recorder()
  readonly watch = new InstanceWatch()
  readonly startErrors: unknown[] = []
  readonly project: Project
  runtime!: Runtime
  /** Time was still being moved when the limit was reached. */
  endless = false
  private readonly expected = new Map<symbol, number>()
  private readonly delivered = new Map<string, number>()
  private readonly given: Fields
  private readonly resumption: Resumption | undefined
  /** What the stubs have counted outlives the product. */
  private readonly stubs: NonNullable<RuntimeOptions['replace']>

  private constructor({ file, settings = {}, resumption }: LoadedCase, project: Project) {
    this.file = file
    this.given = settings
    this.resumption = resumption
    this.project = project
    this.time = new CaseClock(file.clock)
    this.stubs = { functions: this.functions(), subflows: this.subflows() }
  }

  /** Lays out the files and starts the product; `twin` runs the definition in its other notation. */
  static async open(loaded: LoadedCase, twin?: string): Promise<Simulation> {
    const simulation = new Simulation(loaded, await createProject(loaded, twin))
    try {
      await simulation.start()
    } catch (error) {
      await simulation.project.close()
      throw error
    }
    return simulation
  }

  private async start(): Promise<void> {
    const { file, project } = this
    this.runtime = await startProduct({
      root: project.root,
      definitions: [...project.definitions, ...this.continuations()],
      settings: { 'sonatina.profile': profileOf(file.group), 'sonatina.store': 'memory', 'sonatina.instances.retention': '36500d', ...secretSettings(file.secrets), ...file.config, ...this.storeSettings() },
      settingsFiles: [],
      replace: this.stubs,
      readResource: (uri) => project.readResource(uri),
      onEvent: (event) => { this.recorder.events.push(event) },
      onStep: (step) => { this.observe(step) },
      stdout: () => undefined,
      loopback: file.loopback ?? false,
      clock: this.time.clock,
      log: silentLogger,
    })
  }

  private storeSettings(): Fields {
    const store = this.given['sonatina.store'] === 'sqlite' ? { 'sonatina.store.sqlite.file': join(this.project.root, 'instances.sqlite') } : {}
    return { ...store, ...this.given }
  }

  /** Id of the workflow under test. */
  get workflowId(): string {
    return this.file.workflow ?? String(this.project.document?.['id'])
  }

  private functions(): Map<string, ReturnType<typeof createFunctionStub>> {
    const surroundings = this.surroundings()
    const stubs = new Map<string, ReturnType<typeof createFunctionStub>>()
    for (const { name, type, operation } of declaredFunctions(this.project.documents)) {
      // What the product does by itself needs no stand-in; everything else has none but a failing one.
      if (type !== 'expression' && !operation.startsWith('sysout')) stubs.set(name, createFunctionStub(name, [], surroundings))
    }
    for (const [name, entries] of Object.entries(this.file.stubs ?? {})) {
      stubs.set(name, createFunctionStub(name, [entries].flat(), surroundings))
    }
    return stubs
  }

  private subflows(): Map<string, ReturnType<typeof createSubflowStub>> {
    const surroundings = this.surroundings()
    const fixed = Object.entries(this.file.subflows ?? {}).filter(([, entry]) => entry['definition'] === undefined)
    return new Map(fixed.map(([id, entry]) => [id, createSubflowStub(id, entry, surroundings)]))
  }

  private surroundings(): StubSurroundings {
    const counted = this.file.steps.some(({ expect }) => expect !== undefined && ('maxConcurrency' in expect || 'batches' in expect))
    return {
      clock: this.time.clock,
      start: this.time.start,
      recorder: this.recorder,
      hold: counted,
      expectAt: (instant) => {
        const key = Symbol(String(instant))
        this.expected.set(key, instant)
        return () => { this.expected.delete(key) }
      },
    }
  }

  /** A workflow that is continued as another one needs that other to be there; the case is not about it. */
  private continuations(): readonly DefinitionText[] {
    return continuationTargets(this.project.document).filter(({ workflowId }) => workflowId !== this.workflowId).map(({ workflowId, version }, index) => ({
      uri: `${this.project.root}/continuation-${index}.sw.json`,
      text: JSON.stringify({
        id: workflowId, specVersion: '0.8', version: version ?? '1.0', start: 'End',
        states: [{ name: 'End', type: 'inject', data: {}, end: true }],
      }),
    }))
  }

  private observe(step: ObservedStep): void {
    this.watch.observe(step)
    this.resumption?.step()
    this.recorder.activity++
    const subflow = this.file.subflows?.[step.workflowId]
    if (step.type === 'started' && subflow?.['definition'] !== undefined) {
      this.recorder.calls.push({ subflow: step.workflowId, input: step.data, version: step.version, at: step.at - this.time.start })
    }
  }

  /** `start`: begins an instance and lets it run as far as it gets by itself. */
  async begin(input: Json): Promise<void> {
    void this.runtime.host.start({ workflowId: this.workflowId, input: input ?? {} }).catch((error: unknown) => { this.startErrors.push(error) })
    await this.drive()
  }

  /**
   * `event`: hands over an event; attribute names are lower-cased, as every transport does.
   *
   * The cases write one id for all their events. They mean different ones: a repeated id is numbered, lest it counts as sent twice.
   */
  async deliver(event: Fields): Promise<void> {
    const lowered = Object.fromEntries(Object.entries(event).map(([name, value]) => [name.toLowerCase(), value]))
    const key = JSON.stringify([lowered['source'], lowered['id']])
    const count = (this.delivered.get(key) ?? 0) + 1
    this.delivered.set(key, count)
    const id = count === 1 ? lowered['id'] : `${String(lowered['id'])}-${count}`
    void this.runtime.host.deliver({ ...lowered, id } as unknown as CloudEventRecord).catch((error: unknown) => { this.startErrors.push(error) })
    await this.drive()
  }

  /** `advance`: moves time by so much. */
  async advance(duration: string): Promise<void> {
    await this.time.advance(parseDuration(duration), () => this.idle())
    await this.drive()
  }

  /** Lets everything run that can: sleeps, retry delays and the time that calls take pass by themselves. */
  async drive(): Promise<void> {
    const most = this.onEngine ? MOST_ENGINE_MOVES : MOST_MOVES
    for (let moves = 0; moves < most; moves++) {
      await this.idle()
      if (this.endless) return
      await this.resume()
      const next = await this.nextByItself()
      if (next === undefined) return
      const instant = Math.max(next, this.time.clock.now())
      // A timer that comes before it has to get through the engine first.
      if (this.onEngine) await this.time.advance(instant - this.time.clock.now(), () => this.idle())
      else this.time.clock.moveTo(instant)
    }
    this.endless = true
  }

  /** Goes on in a fresh product from the store, where the run does that. A call under way is no rest. */
  private async resume(): Promise<void> {
    if (this.resumption === undefined || this.expected.size > 0 || !await this.resumption.isDue(this.runtime)) return
    this.resumption.stops += 1
    await this.runtime.close(0)
    await this.start()
    await this.idle()
  }

  private get onEngine(): boolean {
    return this.given['sonatina.store'] === 'restate'
  }

  private async idle(): Promise<void> {
    let quiet = false
    void this.runtime.quiet().then(() => { quiet = true })
    // What goes over sockets needs real time before it can be called calm.
    const patience = this.onEngine ? 150 : 0
    for (let calm = 0, seen = this.recorder.activity, since = performance.now(); !quiet;) {
      await turn()
      if (this.expected.size === 0 || seen !== this.recorder.activity) {
        calm = 0
        since = performance.now()
      } else if (++calm >= CALM_TURNS && performance.now() - since >= patience) return
      seen = this.recorder.activity
    }
    await turn()
  }

  /** The next instant that comes without anybody moving time: an answer of a stub, a sleep, a retry. */
  private async nextByItself(): Promise<number | undefined> {
    const instants = [...this.expected.values()]
    const { instances } = await this.runtime.host.list({ status: ['active', 'waiting'], limit: 1000 })
    for (const { waitingFor = [] } of instances) {
      const open = waitingFor.some(({ kind }) => kind === 'event')
      for (const { kind, timer, dueAt } of waitingFor) {
        const byItself = timer === undefined ? !open : timer !== 'timeout'
        if (kind === 'timer' && dueAt !== undefined && byItself) instants.push(dueAt)
      }
    }
    return instants.length === 0 ? undefined : Math.min(...instants)
  }

  /** Instances of the workflow under test, in the order in which they started. */
  get started(): readonly ObservedStep[] {
    return this.watch.started(this.workflowId)
  }

  /** The first instance of the workflow under test, as it stands now. */
  async instance(): Promise<WatchedInstance | undefined> {
    const [first] = this.started
    return first === undefined ? undefined : this.watch.find(this.runtime.host, first.instanceId)
  }

  /** What the first instance continued as. */
  get continuation(): JsonObject | undefined {
    const [first] = this.started
    return first === undefined ? undefined : this.watch.continuation(first.instanceId)
  }

  /** The error with which the start was refused before there was an instance. */
  get rejection(): SonatinaError | undefined {
    return this.startErrors.find((error): error is SonatinaError => SonatinaError.is(error) && error.code.startsWith('DATA_INPUT'))
  }

  /** The starting state, when events start the workflow. */
  get awaitedState(): string | undefined {
    const start = startState(this.project.document)
    return start?.byEvent === true ? start.name : undefined
  }

  /** Closes the product and removes the files. */
  async close(): Promise<void> {
    await this.runtime.close(0)
    await this.project.close()
  }
}

function secretSettings(secrets: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return secrets === undefined ? {} : { ...secrets, 'sonatina.secrets.allow': Object.keys(secrets).join(',') }
}
