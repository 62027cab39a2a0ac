import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createLogger } from '../../../lib/common/index.ts'
import type { LoadFailure } from '../../../lib/definition/index.ts'
import type { DefinitionInput, Runtime } from '../../../lib/runtime-options.ts'
import { CaseClock, turn } from './case-clock.ts'
import type { CaseFile, Fields, LoadedCase } from './case-file.ts'
import { createHostSide, type HostSide } from './host-side.ts'
import { HttpCaller } from './http-caller.ts'
import { InstanceWatch } from './instance-watch.ts'
import { knativeSettings } from './knative.ts'
import { LogStore } from './log-store.ts'
import type { Answer } from './match.ts'
import { startProduct } from './product.ts'
import type { Resumption } from './resumption.ts'
import { encodeEvent } from './cloud-events.ts'
import { Servers } from './servers/servers.ts'
import { findRoot } from './project-root.ts'
import { originPlaceholders, profileOf, readChannels, restClientSettings, spreadOverFunctions, withoutRemark, type Channels } from './settings.ts'
import { declaredFunctions } from './simulate/documents.ts'
import { SpanStore } from './span-store.ts'
import { Variables } from './variables.ts'

/** Longest real time, milliseconds, that something sent needs to arrive. */
const SOCKET_PATIENCE = 300

/** Everything that the steps of one case share: the product, the servers around it, time, log, variables. */
export class World {
  readonly file: CaseFile
  readonly folder: string
  readonly variables: Variables
  readonly time: CaseClock
  readonly log = new LogStore()
  readonly spans = new SpanStore()
  readonly host: HostSide
  readonly http = new HttpCaller()
  readonly watch = new InstanceWatch()
  servers!: Servers
  runtime!: Runtime
  private channels!: Channels
  private config: Record<string, unknown> = {}
  private url: string | undefined
  private readonly given: Fields
  private readonly resumption: Resumption | undefined
  private readonly added: DefinitionInput[] = []
  private directory: string | undefined
  private projectRoot = ''
  private readonly emitting = new Set<Promise<void>>()

  private constructor({ file, folder, settings = {}, resumption }: LoadedCase, host: HostSide) {
    this.file = file
    this.given = settings
    this.resumption = resumption
    this.folder = folder
    this.variables = new Variables(folder)
    this.time = new CaseClock(file.clock)
    this.host = host
    host.connect({ log: this.log.add, now: () => this.time.clock.now() })
  }

  /** Starts the servers and the product of a case. */
  static async open(loaded: LoadedCase): Promise<World> {
    const world = new World(loaded, await createHostSide(loaded))
    try {
      await world.startServers()
      await world.start({})
    } catch (error) {
      await world.close()
      throw error
    }
    return world
  }

  private async startServers(): Promise<void> {
    const { file, folder, variables, time } = this
    this.config = { ...file.config }
    this.projectRoot = await findRoot(file, folder)
    this.channels = await readChannels(file, folder, this.config)
    this.servers = new Servers({
      variables,
      clock: time.clock,
      emit: (emit, locals) => { this.emitLater(emit, locals) },
      hold: () => time.hold(),
    })
    await this.servers.start(file, folder, this.channels.outgoing)
    const first = file.definitions[0]
    if (typeof first === 'string') variables.set('file', await readFile(join(folder, first), 'utf8').catch(() => ''))
  }

  /** Starts the product, or starts it anew with further settings and the same store. */
  async start(more: Fields): Promise<void> {
    const { file, folder } = this
    if (this.url !== undefined) await this.stopProduct()
    Object.assign(this.config, more)
    const texts = await this.definitionTexts()
    const addresses = this.servers.addresses
    const functions = declaredFunctions(texts.map(documentOf)).map(({ name }) => name)
    const config = Object.entries(spreadOverFunctions(this.config, functions)).filter(([key]) => !key.startsWith('knative service '))
    const settings = {
      'sonatina.profile': profileOf(file.group),
      // The channel of lifecycle events is there in the tests of the origin, whatever the settings of the case.
      'sonatina.messaging.outgoing.kogito-processinstances-events.url': `${this.servers.broker.url}/kogito-processinstances-events`,
      ...await this.storeSettings(),
      ...await originPlaceholders(file, folder, addresses),
      ...knativeSettings(file, texts, addresses.main),
      ...this.servers.grpcSettings(),
      ...await restClientSettings({ file, folder, texts, address: addresses.main, config: this.config }),
      ...Object.fromEntries(config.map(([key, value]) => [key, this.variables.resolve(withoutRemark(value))])),
      ...this.given,
    }
    this.runtime = await startProduct({
      root: this.root(),
      definitions: await this.definitionInputs(),
      settings,
      settingsFiles: (file.properties ?? []).map((path) => join(folder, path)),
      ...this.host.options(file),
      environment: { K_SINK: this.servers.broker.url },
      loopback: file.kind === 'run',
      onStep: (step) => {
        this.watch.observe(step)
        this.resumption?.step()
      },
      // Log lines are events of spans: what `sysout` prints has to be one then.
      ...(file.needs.includes('otel') ? { spanExporter: this.spans.exporter } : { stdout: this.log.print }),
      clock: this.time.clock,
      log: createLogger({ level: 'debug', write: this.log.write }),
    })
  }

  /** Address of the product; opens its server on first use. */
  async address(): Promise<string> {
    this.url ??= (await this.runtime.listen({ host: '127.0.0.1', port: 0 })).url
    return this.url.replace(/\/$/, '')
  }

  /** Lets everything run that can, without moving time. */
  async settle(): Promise<void> {
    do {
      await Promise.all(this.emitting)
      await this.runtime.quiet()
      await turn()
      if (this.resumption !== undefined && this.emitting.size === 0 && this.http.isIdle && await this.resumption.isDue(this.runtime)) {
        this.resumption.stops += 1
        await this.restart()
        await this.runtime.quiet()
      }
    } while (this.emitting.size > 0)
  }

  /** Deploys a definition while the product runs. */
  async deploy(definition: DefinitionInput): Promise<readonly LoadFailure[]> {
    this.added.push(definition)
    return (await this.runtime.deploy([definition])).failures
  }

  /** Moves time and lets everything run that becomes due. */
  async advance(milliseconds: number): Promise<void> {
    await this.time.advance(milliseconds, () => this.settle())
  }

  /** Tries until something is given: first now, then every second of virtual time up to a limit. */
  async poll<T>(probe: () => Promise<T | undefined> | T | undefined, atMost: number): Promise<T | undefined> {
    await this.settle()
    // What the product sends may still be on its way through a socket: time must not run away under it.
    const limit = performance.now() + SOCKET_PATIENCE
    do {
      const found = await probe()
      if (found !== undefined) return found
      await turn()
    } while (performance.now() < limit)
    for (let elapsed = 0; elapsed < atMost; elapsed += 1000) {
      await this.advance(1000)
      for (let turns = 0; turns < 20; turns++) {
        const found = await probe()
        if (found !== undefined) return found
        await turn()
      }
    }
    return undefined
  }

  /** Sends an event to the product: to its path, or to the path of the channel. */
  async emit(emit: Fields, locals: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    const { mode, http, channel, contentType, cloudevent } = this.variables.resolve(emit, locals)
    const path = typeof http === 'string' ? http : this.channels.incoming.get(String(channel)) ?? '/'
    const { headers, body } = encodeEvent(cloudevent as Fields, mode as 'structured' | 'binary', contentType as string | undefined)
    return this.http.send({ method: 'POST', url: `${await this.address()}${path}`, headers, body })
  }

  private emitLater(emit: Fields, locals: Readonly<Record<string, unknown>>): void {
    const sending = turn().then(() => this.emit(emit, locals)).then((answer) => {
      if (answer.status >= 400) this.log.add(`the event of a stub was answered with ${answer.status}: ${answer.text}`)
    }).catch((error: unknown) => {
      // A case that ends early closes the connection under it.
      this.log.add(`the event of a stub was not sent: ${String(error)}`)
    }).finally(() => { this.emitting.delete(sending) })
    this.emitting.add(sending)
  }

  /** Stops the product and starts it with the same store. */
  async restart(): Promise<void> {
    await this.stopProduct()
    await this.start({})
    if (this.added.length > 0) await this.runtime.deploy(this.added)
  }

  private async stopProduct(): Promise<void> {
    await this.runtime.close(1000)
    this.url = undefined
  }

  private async storeSettings(): Promise<Fields> {
    const durable = this.given['sonatina.store'] ?? (this.file.needs.some((need) => need === 'persistence' || need === 'restart') ? 'sqlite' : 'memory')
    if (durable !== 'sqlite') return { 'sonatina.store': durable }
    this.directory ??= await mkdtemp(join(tmpdir(), 'conformance-'))
    return { 'sonatina.store': 'sqlite', 'sonatina.store.sqlite.file': join(this.directory, 'instances.sqlite') }
  }

  /** Project directory of the case. */
  root(): string {
    return this.projectRoot
  }

  /** Definitions that later steps add are not there at the start. */
  private deployed(): readonly (string | Fields)[] {
    const added = this.file.steps.map((step) => step['addDefinition'])
    return this.file.definitions.filter((definition) => !added.includes(definition))
  }

  private async definitionInputs(): Promise<readonly DefinitionInput[]> {
    return Promise.all(this.deployed().map((definition, index) => this.definitionInput(definition, index)))
  }

  /** Gives a definition to the product: by path, or as text where an address on this host has to become the stub's. */
  async definitionInput(definition: string | Fields, index = 0): Promise<DefinitionInput> {
    if (typeof definition !== 'string') {
      return { uri: join(this.root(), `${this.file.id}-${index}.sw.json`), text: JSON.stringify(definition) }
    }
    const path = join(this.folder, definition)
    const text = await readFile(path, 'utf8').catch(() => undefined)
    const { main } = this.servers.addresses
    const changed = main === undefined ? text : text?.replaceAll(/(?<=rest:\w+:)https?:\/\/localhost(?::\d+)?/g, main)
    return changed === undefined || changed === text ? path : { uri: path, text: changed }
  }

  /** Id of a definition, read from its text. */
  async definitionId(definition: string | Fields): Promise<string> {
    const document = typeof definition === 'string' ? parse(await readFile(join(this.folder, definition), 'utf8')) as Fields : definition
    return String(document['id'])
  }

  private async definitionTexts(): Promise<readonly string[]> {
    return Promise.all(this.file.definitions.map(async (definition) =>
      (typeof definition === 'string' ? readFile(join(this.folder, definition), 'utf8').catch(() => '') : JSON.stringify(definition))))
  }

  /** Closes everything, whatever has been opened. */
  async close(): Promise<void> {
    const runtime = this.runtime as Runtime | undefined
    await runtime?.close(0)
    await (this.servers as Servers | undefined)?.close()
    await this.http.close()
    if (this.directory !== undefined) await rm(this.directory, { recursive: true, force: true })
  }
}

function documentOf(text: string): Fields {
  try {
    const value: unknown = parse(text)
    return typeof value === 'object' && value !== null ? value as Fields : {}
  } catch {
    // A definition that does not parse is for the product to refuse.
    return {}
  }
}
