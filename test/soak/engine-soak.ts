import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answers, startLoadBalancer, type LoadBalancer } from '../support/load-balancer.ts'
import { freePort, restateBinary, startRestateCluster, type RestateServer } from '../support/restate-server.ts'
import { faultsOf, readLedger, repeatsOf } from './ledger.ts'
import { startWorker, type Worker } from './process.ts'
import { isCancelled, patience, Producer, randomOf, wait } from './producer.ts'
import type { SoakResult } from './soak.ts'

/** What happens to the processes while orders run. */
export type Scenario =
  /** Workers and the engine are killed at random and come back. */
  | 'kills'
  /** One of two workers is killed and does not come back. */
  | 'worker-lost'
  /** One of two workers is stopped as it stands, its connections open. */
  | 'worker-frozen'
  /** One of three nodes of the engine is killed and does not come back. */
  | 'node-lost'

/** How a soak on the distributed engine runs. */
export interface EngineSoakOptions {
  readonly scenario: Scenario
  readonly instances: number
  /** Kills of a worker, with scenario `kills`. */
  readonly workerKills: number
  /** Kills of the engine, with scenario `kills`. */
  readonly serverKills: number
  readonly seed: number
}

const PATIENCE = 300_000

/** A worker at a place that stays: what was begun there is asked for there again. */
interface Place {
  readonly port: number
  worker: Promise<Worker>
  /** Nobody comes back here. */
  isLost: boolean
}

/** What came of a soak on the distributed engine. */
export interface EngineSoakResult extends SoakResult {
  readonly serverKills: number
  /** Seconds from the last disturbance until all orders were done. */
  readonly recovered: number
}

/** Runs orders on the engine while its processes are disturbed, and compares what happened with what should have. */
export async function engineSoak(options: EngineSoakOptions): Promise<EngineSoakResult> {
  const binary = restateBinary()
  if (binary === undefined) return { done: 0, kills: 0, serverKills: 0, repeated: 0, seconds: 0, recovered: 0, faults: ['the engine is not installed'] }
  const directory = await mkdtemp(join(tmpdir(), 'soak-'))
  const servers = await startRestateCluster({ binary, nodes: options.scenario === 'node-lost' ? 3 : 1, keepAlive: '2s' })
  try {
    return await new EngineSoak(options, directory, servers).run()
  } finally {
    await Promise.all(servers.map((server) => server.close()))
    await rm(directory, { recursive: true, force: true })
  }
}

class EngineSoak {
  readonly #options: EngineSoakOptions
  readonly #directory: string
  readonly #servers: readonly RestateServer[]
  readonly #random: () => number
  #places: Place[] = []
  #balancer: LoadBalancer | undefined
  #kills = 0
  #serverKills = 0
  #over = false
  #disturbedAt = performance.now()

  constructor(options: EngineSoakOptions, directory: string, servers: readonly RestateServer[]) {
    this.#options = options
    this.#directory = directory
    this.#servers = servers
    this.#random = randomOf(options.seed)
  }

  async run(): Promise<EngineSoakResult> {
    const started = performance.now()
    const { instances, scenario } = this.#options
    await this.#startWorkers(scenario === 'kills' || scenario === 'node-lost' ? 1 : 2)
    const orders = Array.from({ length: instances }, (_, index) => `o${String(index)}`)
    const producer = new Producer({ directory: this.#directory, address: () => this.#address(), isOver: () => this.#over })
    const producing = Promise.all(orders.map((order, index) => producer.produce(order, isCancelled(index))))
    const disturbing = this.#disturb()
    await Promise.race([producing, patience(PATIENCE)])
    const recovered = Math.round((performance.now() - this.#disturbedAt) / 1000)
    this.#over = true
    await disturbing
    const left = await this.#whatIsLeft()
    await this.#stopWorkers()
    const ledger = readLedger(this.#directory)
    return {
      done: new Set(ledger.events.map(({ data }) => data.order)).size,
      kills: this.#kills,
      serverKills: this.#serverKills,
      repeated: repeatsOf(ledger),
      recovered,
      seconds: Math.round((performance.now() - started) / 1000),
      faults: [...orders.flatMap((order, index) => faultsOf(ledger, order, isCancelled(index))), ...left],
    }
  }

  // --- workers ---

  async #startWorkers(count: number): Promise<void> {
    const ports = await Promise.all(Array.from({ length: count }, () => freePort()))
    const places = ports.map((port): Place => ({ port, worker: Promise.reject(new Error('not started')), isLost: false }))
    for (const place of places) place.worker.catch(() => undefined)
    this.#places = places
    if (count > 1) {
      this.#balancer = await startLoadBalancer(places.map((place) => ({
        port: place.port,
        isAlive: async () => answers(new URL('/q/health/live', (await place.worker).url).href),
      })))
    }
    for (const place of places) place.worker = this.#start(place)
    await Promise.all(places.map(({ worker }) => worker))
  }

  async #start(place: Place): Promise<Worker> {
    const server = this.#servers[0] as RestateServer
    const settings = {
      ...server.settings('soak'),
      'sonatina.restate.listen': `127.0.0.1:${String(place.port)}`,
      ...(this.#balancer === undefined ? {} : { 'sonatina.restate.advertised-url': this.#balancer.url }),
      // A front of each node, where there are several.
      ...(this.#options.scenario === 'node-lost' ? { 'sonatina.restate.ingress-url': (this.#servers[1] as RestateServer).ingressUrl, 'sonatina.restate.admin-url': (this.#servers[1] as RestateServer).adminUrl } : {}),
    }
    const worker = await startWorker({ directory: this.#directory, host: 'restate', settings })
    if (worker === undefined) throw new Error('no worker could be started')
    return worker
  }

  async #address(): Promise<string> {
    const alive = this.#places.filter(({ isLost }) => !isLost)
    const place = alive[Math.floor(this.#random() * alive.length)] as Place
    return (await place.worker).url
  }

  async #stopWorkers(): Promise<void> {
    await Promise.all(this.#places.map(async (place) => {
      const worker = await place.worker
      if (place.isLost) await worker.kill()
      else await worker.stop()
    }))
    await this.#balancer?.close()
  }

  // --- disturbances ---

  #disturb(): Promise<void> {
    switch (this.#options.scenario) {
      case 'kills': return this.#killSometimes()
      case 'worker-lost': return this.#lose((worker) => worker.kill())
      case 'worker-frozen': return this.#lose((worker) => { worker.freeze() })
      case 'node-lost': return this.#loseNode()
    }
  }

  async #killSometimes(): Promise<void> {
    const { workerKills, serverKills } = this.#options
    const kills = [...Array.from({ length: workerKills }, () => 'worker'), ...Array.from({ length: serverKills }, () => 'server')]
    for (const what of kills.sort(() => this.#random() - 0.5)) {
      await wait(1000 + this.#random() * 2000)
      if (this.#over) return
      if (what === 'worker') await this.#killWorker()
      else await this.#killServer()
    }
  }

  async #killWorker(): Promise<void> {
    const place = this.#places[0] as Place
    await (await place.worker).kill()
    this.#kills += 1
    this.#disturbedAt = performance.now()
    place.worker = this.#start(place)
    await place.worker
  }

  async #killServer(): Promise<void> {
    const server = this.#servers[0] as RestateServer
    await server.kill()
    this.#serverKills += 1
    this.#disturbedAt = performance.now()
    await wait(this.#random() * 1000)
    await server.restart()
  }

  async #lose(end: (worker: Worker) => void | Promise<void>): Promise<void> {
    await this.#whenUnderWay()
    const place = this.#places[0] as Place
    place.isLost = true
    this.#kills += 1
    this.#disturbedAt = performance.now()
    await end(await place.worker)
  }

  async #loseNode(): Promise<void> {
    await this.#whenUnderWay()
    this.#serverKills += 1
    this.#disturbedAt = performance.now()
    await (this.#servers[2] as RestateServer).kill()
  }

  /** Waits until all orders have begun and none has ended. */
  async #whenUnderWay(): Promise<void> {
    while (!this.#over) {
      const { effects } = readLedger(this.#directory)
      if (new Set(effects.map(({ order }) => order)).size >= this.#options.instances) return
      await wait(50)
    }
  }

  /** What the engine should not hold when all is done. */
  async #whatIsLeft(): Promise<readonly string[]> {
    const [first, second] = this.#servers
    const adminUrl = (second ?? first)?.adminUrl ?? ''
    const sql = {
      'live instances': 'select count(*) as n from state where service_name = \'soak.instance\' and key = \'head\' and value_utf8 not like \'%endedAt%\'',
      'waits': 'select count(*) as n from state where service_name = \'soak.waits\'',
      'pages of history': 'select count(*) as n from state where service_name = \'soak.history\'',
      'invocations': 'select count(*) as n from sys_invocation where status not in (\'scheduled\', \'completed\')',
    }
    let left: string[] = []
    // Forgetting comes after the end.
    for (let attempt = 0; attempt < 40; attempt += 1) {
      left = []
      for (const [what, query] of Object.entries(sql)) {
        const answer = await fetch(`${adminUrl}/query`, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify({ query }) })
        const { rows } = await answer.json() as { rows: readonly { n: number }[] }
        const count = rows[0]?.n ?? -1
        if (count !== 0) left.push(`${String(count)} ${what} are left`)
      }
      if (left.length === 0) return []
      await wait(250)
    }
    return left
  }
}
